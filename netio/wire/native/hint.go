package native

import "bytes"

var strangers = []struct{ prefix, name string }{
	{"GET ", "HTTP"}, {"POST ", "HTTP"}, {"PUT ", "HTTP"}, {"HEAD ", "HTTP"},
	{"DELETE ", "HTTP"}, {"OPTIONS ", "HTTP"}, {"PATCH ", "HTTP"}, {"CONNECT ", "HTTP"},
	{"TRACE ", "HTTP"}, {"PRI * HTTP", "HTTP/2"}, {"HTTP/", "HTTP"},
	{"\x16\x03", "TLS"}, {"AMQP", "AMQP"}, {"SSH-", "SSH"},
}

// Hint answers a sentence on what first, the bytes with which a peer began, look like, for
// the ERROR's text or a log line; the empty string where it has no idea. It needs 4 to 10
// bytes to tell.
func Hint(first []byte) string {
	for _, s := range strangers {
		if bytes.HasPrefix(first, []byte(s.prefix)) {
			return "this looks like " + s.name +
				"; this end speaks the Fantail native protocol, without TLS"
		}
	}
	return ""
}
