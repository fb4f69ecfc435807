package client

import "time"

const (
	// minReadBytes and maxReadBytes bound Config.ReadBytes.
	minReadBytes = 4 << 10
	maxReadBytes = 16 << 20
	// minBatchBytes and maxBatchBytes bound Config.BatchBytes.
	minBatchBytes = 1 << 10
	maxBatchBytes = 16 << 20
	// slackBytes is what a batch may have beyond BatchBytes: control frames.
	slackBytes = 4 << 10
	// controlBytes bounds a frame that is no message: the longest is an ERROR.
	controlBytes = 1 << 10
	// stepBytes is how much is read at once during a handshake.
	stepBytes = 4 << 10
	// confirmEvery is after how many messages the server is asked whether it has them, so
	// that a LostError's count is near the truth.
	confirmEvery = 1024
	// lingerTimeout bounds how long an end may take: sending the rest, and hearing why.
	lingerTimeout = time.Second
	// minHeartbeatTimeout bounds Config.HeartbeatTimeout, and defaultHeartbeat is what a
	// server that names none is taken to have.
	minHeartbeatTimeout = 20 * time.Millisecond
	defaultHeartbeat    = 5 * time.Second
	// MaxMembers is how many subscriptions a Group takes.
	MaxMembers = 65_536
)
