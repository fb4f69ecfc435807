module github.com/fantail-io/fantail

go 1.26
