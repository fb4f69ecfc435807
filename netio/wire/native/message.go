package native

import "github.com/fantail-io/fantail/ring/frame"

// Topic gives a number a name. A server names its stream's topics before it first uses
// them on a connection. A publisher names its own aliases, which mean nothing to anybody
// else, and for one connection.
//
//	header   topic: the number
//	body     the name
type Topic struct {
	ID   uint32 // 1 to MaxTopicID
	Name []byte // 1 to MaxTopicBytes; a view
}

// AppendTopic appends t.
func AppendTopic(dst []byte, t *Topic) []byte {
	return frame.Append(dst, frame.Header{Kind: frame.Topic, Topic: t.ID}, t.Name)
}

// ParseTopic reads a TOPIC. What the name consists of is not checked.
func ParseTopic(h frame.Header, body []byte) (v Topic, err error) {
	if err := check(&h, frame.Topic, usesTopic, body); err != nil {
		return v, err
	}
	if len(body) == 0 || len(body) > MaxTopicBytes {
		return v, Errorf(CodeTopicName, "a name of %d bytes is outside 1 to %d", len(body),
			MaxTopicBytes)
	}
	return Topic{ID: h.Topic, Name: body}, nil
}

// Publish is a message on its way from a publisher to the server.
//
//	header   topic: the alias; sequence: the publisher's count; time: ns, or 0
//	body     the payload
type Publish struct {
	// Alias is the number that a TOPIC of the same connection gave the topic.
	Alias uint32
	// Sequence is the publisher's own count of messages, from 1, or 0.
	Sequence uint64
	// Time is when it was published, in nanoseconds since the Unix epoch. Zero: the server
	// stamps it.
	Time int64
	// Payload is a view.
	Payload []byte
}

// AppendPublish appends p.
func AppendPublish(dst []byte, p *Publish) []byte {
	return frame.Append(dst, frame.Header{Kind: frame.Publish, Topic: p.Alias,
		Sequence: p.Sequence, Time: p.Time}, p.Payload)
}

// ParsePublish reads a PUBLISH.
func ParsePublish(h frame.Header, body []byte) (v Publish, err error) {
	if err := check(&h, frame.Publish, usesTopic|usesSequence|usesTime, body); err != nil {
		return v, err
	}
	return Publish{Alias: h.Topic, Sequence: h.Sequence, Time: h.Time, Payload: body}, nil
}

// Data is a message as it is in the stream.
//
//	header   topic, publisher, sequence, time
//	body     the payload
type Data struct {
	Topic     uint32 // 1 to MaxTopicID
	Publisher uint32
	Sequence  uint64 // from 1
	Time      int64  // nanoseconds since the Unix epoch
	Payload   []byte // a view
}

// AppendData appends d.
func AppendData(dst []byte, d *Data) []byte {
	return frame.Append(dst, frame.Header{Kind: frame.Data, Topic: d.Topic,
		Publisher: d.Publisher, Sequence: d.Sequence, Time: d.Time}, d.Payload)
}

// ParseData reads a DATA.
func ParseData(h frame.Header, body []byte) (v Data, err error) {
	const all = usesTopic | usesPublisher | usesSequence | usesTime
	if err := check(&h, frame.Data, all, body); err != nil {
		return v, err
	}
	return Data{Topic: h.Topic, Publisher: h.Publisher, Sequence: h.Sequence, Time: h.Time,
		Payload: body}, nil
}
