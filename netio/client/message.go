package client

import "github.com/fantail-io/fantail/ring"

// Gap is a hole in what a subscription gets, delivered in its place among the messages.
//
// Where Reason is ring.GapReconnect the messages were published while there was no
// connection: Count is an upper bound then, since they were never matched against the
// pattern. First, Last and Count are 0 where the server has started anew, so that nobody
// knows, and sequences begin again.
type Gap = ring.Gap

// Message is one message, or a gap. It is valid until the function that was handed it
// returns, and so is a copy's Payload. It is handed on by pointer because copying it would
// cost more than parsing it.
type Message struct {
	// Sequence is the message's number in the server's stream, from 1; a gap's first.
	Sequence uint64
	// Time is when it was published, in nanoseconds since the Unix epoch.
	Time int64
	// TopicID is the topic's number at the server; Topic has its name.
	TopicID uint32
	// Publisher is the server's number of the publisher.
	Publisher uint32
	// Payload is the message's content. Gaps have none.
	Payload []byte
	// Gap says which messages will not come, where IsGap.
	Gap Gap

	topics *topicTable
}

// IsGap reports whether the message stands for others that will not come.
func (m *Message) IsGap() bool { return m.Gap.Reason != ring.GapNone }

// Topic is the topic's name; empty for gaps. Only the goroutine that polls may call it.
func (m *Message) Topic() string { return m.topics.name(m.TopicID) }

// topicTable has a connection's topics by number. It grows in pages, so that one large
// number costs little.
type topicTable struct {
	pages []*[topicPage]string
}

const topicPage = 64

func (t *topicTable) name(number uint32) string {
	if t == nil || int(number/topicPage) >= len(t.pages) {
		return ""
	}
	page := t.pages[number/topicPage]
	if page == nil {
		return ""
	}
	return page[number%topicPage]
}

// set names a topic; it answers false where that has another name already.
func (t *topicTable) set(number uint32, name []byte) bool {
	at := int(number / topicPage)
	if at >= len(t.pages) {
		pages := make([]*[topicPage]string, max(at+1, 2*len(t.pages)))
		copy(pages, t.pages)
		t.pages = pages
	}
	if t.pages[at] == nil {
		t.pages[at] = new([topicPage]string)
	}
	slot := &t.pages[at][number%topicPage]
	if *slot == "" {
		*slot = string(name)
	}
	return *slot == string(name)
}
