package topic

const (
	// MaxNameBytes is the longest name or pattern, in bytes.
	MaxNameBytes = 255
	// MaxTokens is the most tokens of a name or pattern.
	MaxTokens = 32
	// DefaultMaxTopics is how many topics a Registry takes where it is not told: 65,536.
	DefaultMaxTopics = 65_536
	// MaxTopics is how many it takes at most: numbers have 24 bits in the stream's index,
	// and 0 is no topic.
	MaxTopics = 1<<24 - 1

	// chunkNames is the unit in which a Registry's table of names grows.
	chunkNames = 1024
	// quotedBytes bounds what a NameError repeats of a name.
	quotedBytes = 64
	// memoSlots and memoLists size the memory of a Routes of which patterns make which set.
	memoSlots = 128
	memoLists = 8
	// recentJoins is how many Adds a Routes remembers, to tell OnResolve only what is new.
	recentJoins = 64
)
