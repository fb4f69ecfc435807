package perf

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/ring"
)

// The topics by which the two tools of a run find each other, beside that of the messages.
const (
	rollTopic   = topicName + ".roll"   // the publisher asks who is there
	answerTopic = topicName + ".answer" // subscribers answer
	loadTopic   = topicName + ".topic." // with a number: loads the topic index
)

const (
	// rollEvery is how often the publisher asks who is there.
	rollEvery = 100 * time.Millisecond
	// answerTimeout is how long the publisher waits for an answer: as OpenAMQ's did.
	answerTimeout = 99_999 * time.Millisecond
	// progressEvery is after how many messages OpenAMQ's tools said how far they were.
	progressEvery = 1000
	// maxLoadTopics bounds TopicConfig.Topics.
	maxLoadTopics = 100_000
)

// TopicConfig is what both topic tools have in common; fields of one tool say so.
type TopicConfig struct {
	// Server is host:port. A port is 7400 where there is none.
	Server string
	// Token is the secret that the server may ask for.
	Token []byte
	// Once ends after a round; otherwise rounds follow each other for ever.
	Once bool
	// Topics is for how many topics more the tool loads the index. At most 100,000.
	Topics int
	// Say gets a line of text now and then.
	Say func(format string, args ...any)
	// OnRound gets the report of each round. Nil: nobody does.
	OnRound func(r *report.Report)

	// Size, Messages, Subscribers and Settle are the publisher's: payload bytes, messages of
	// a round, subscribers to wait for, and the pause between rounds.
	Size        int
	Messages    uint64
	Subscribers int
	Settle      time.Duration
	// Batch is how many messages are prepared at once.
	Batch int

	// Many is how many subscribers this process is, and Policy what they ask for.
	Many   int
	Policy ring.Policy
}

func (c *TopicConfig) check() error {
	for _, v := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"-Z", c.Size, 0, 1 << 20},
		{"-S", c.Subscribers, 0, 1 << 20},
		{"-T", c.Topics, 0, maxLoadTopics},
		{"--many", c.Many, 0, maxSubscribers},
	} {
		if v.value < v.least || v.value > v.most {
			return fmt.Errorf("%w: %s %d is outside %d to %d", errConfig, v.name, v.value,
				v.least, v.most)
		}
	}
	return nil
}

// answer is what a subscriber's process says to the publisher, as JSON.
type answer struct {
	Kind     string `json:"kind"` // "here", or "end" of one subscriber
	Process  string `json:"process"`
	Many     int    `json:"many,omitempty"`       // here: how many subscribers it is
	Which    int    `json:"subscriber,omitempty"` // end: from 1
	Received uint64 `json:"received,omitempty"`
	Lost     uint64 `json:"lost,omitempty"`
	Gaps     uint64 `json:"gaps,omitempty"`
	Corrupt  uint64 `json:"corrupt,omitempty"`
	Repeated uint64 `json:"repeated,omitempty"`
}

func (a *answer) bytes() []byte {
	b, err := json.Marshal(a)
	if err != nil {
		panic("perf: " + err.Error()) // a bug: there is nothing in it that JSON has not
	}
	return b
}

func parseAnswer(b []byte) (a answer, ok bool) {
	err := json.Unmarshal(b, &a)
	return a, err == nil && a.Process != ""
}

// processName tells the processes of a run apart, on one host and on several.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}
