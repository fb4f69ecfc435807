/* The publisher and the subscribers of ZeroMQ, for the peers command. They speak with their
 * parent as its own children do (package child), and lay payloads out as package load says.
 *
 *   zmqpeer pub SUBSCRIBERS BYTES MESSAGES SECONDS RATE
 *   zmqpeer sub SUBSCRIBERS BYTES LATENCIES ADDRESS
 *   zmqpeer version
 */
#include "zmqpeer.h"

enum { HWM = 1000, LOOK_EVERY = 64, WARM_UP_SHARE = 10, BATCH = 256, POLL_MS = 100 };

struct work {
	long subscribers, bytes, messages;
	double seconds;
	long rate;
};

static void send_one(void *socket, uint8_t *b, long bytes, uint32_t remaining, uint32_t sequence,
                     int64_t due) {
	put32(b, remaining);
	put32(b + 4, sequence);
	put32(b + 8, (uint64_t)due >> 32);
	put32(b + 12, (uint32_t)due);
	put32(b + bytes - 4, sequence);
	while (zmq_send(socket, b, bytes, 0) < 0)
		if (zmq_errno() != EINTR && zmq_errno() != EAGAIN)
			fail("send");
}

/* As load.publishPaced. */
static long publish_paced(void *socket, uint8_t *b, const struct work *w, int64_t *first) {
	long total = w->messages ? w->messages : (long)(w->rate * w->seconds), sent = 0;
	if (total < 1)
		total = 1;
	*first = now_ns() + 1000000;
	while (sent < total) {
		int64_t due = *first + (int64_t)((double)sent / w->rate * 1e9), now = now_ns();
		if (due > now) {
			sleep_until(due);
			continue;
		}
		if (sent >= total / WARM_UP_SHARE)
			record(bars, now - due);
		else
			due = 0;
		send_one(socket, b, w->bytes, total - sent, sent + 1, due);
		sent++;
	}
	return sent;
}

/* As load.Publish. */
static long publish_all(void *socket, uint8_t *b, const struct work *w, int64_t *first) {
	long sent = 0;
	int last = 0;
	*first = now_ns();
	while (!last) {
		uint32_t remaining = 2;
		sent++;
		if (w->messages)
			remaining = w->messages - sent + 1;
		else if (sent % LOOK_EVERY == 0 && now_ns() - *first > w->seconds * 1e9)
			remaining = 1;
		last = remaining == 1;
		send_one(socket, b, w->bytes, remaining, sent, 0);
	}
	return sent;
}

static void publish(void *socket, const struct work *w) {
	uint8_t *b = malloc(w->bytes);
	double before = cpu_seconds();
	int64_t first;
	for (long i = 0; i < w->bytes; i++)
		b[i] = 'a' + i % 26;
	for (long i = 0; i < w->subscribers;) { /* each subscription comes as a message, 1 first */
		uint8_t said[16];
		int n = zmq_recv(socket, said, sizeof said, 0);
		check(n, "no subscription in time");
		i += n > 0 && said[0] == 1;
	}
	long sent = (w->rate ? publish_paced : publish_all)(socket, b, w, &first);
	printf("{\"value\":{\"messages\":%ld,\"first_ns\":%" PRId64 ",\"last_ns\":%" PRId64 ",\"late\":",
	       sent, first, now_ns());
	print_bars(bars);
	printf(",\"usage\":");
	print_usage(before);
	printf("}}\n");
	free(b);
}

static void set(void *socket, int option, int value) {
	check(zmq_setsockopt(socket, option, &value, sizeof value), "option");
}

static void publisher(void *context, const struct work *w) {
	void *socket = zmq_socket(context, ZMQ_XPUB);
	char address[128], line[sizeof inbox.line];
	size_t length = sizeof address;
	if (!socket)
		fail("socket");
	set(socket, ZMQ_SNDHWM, HWM);
	set(socket, ZMQ_XPUB_NODROP, 1);  /* a full queue makes send wait */
	set(socket, ZMQ_XPUB_VERBOSE, 1); /* every subscription is told, not only the first */
	set(socket, ZMQ_RCVTIMEO, 20000);
	check(zmq_bind(socket, "tcp://127.0.0.1:*"), "bind");
	check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, address, &length), "endpoint");
	printf("{\"value\":{\"address\":\"%s\",\"publishes\":true}}\n", address);
	for (;;) {
		fflush(stdout);
		next_line(line);
		if (!strcmp(line, "publish")) {
			publish(socket, w);
		} else {
			printf("{\"value\":");
			print_usage(0);
			printf("}\n");
		}
	}
}

struct meter {
	void *socket;
	uint32_t next;
	int done;
	uint64_t received, disorder, torn;
	int64_t first, last;
};

/* As load.Meter.Take. */
static void take(struct meter *m, const uint8_t *b, size_t size, long bytes, int latencies) {
	if (size != (size_t)bytes) {
		m->torn++;
		return;
	}
	uint32_t sequence = get32(b + 4);
	m->received++;
	m->disorder += sequence != m->next;
	m->next = sequence + 1;
	m->torn += get32(b + bytes - 4) != sequence;
	if (latencies) {
		int64_t due = (int64_t)((uint64_t)get32(b + 8) << 32 | get32(b + 12));
		if (due)
			record(bars, now_ns() - due);
	}
	if (!m->first)
		m->first = now_ns();
	if (get32(b) == 1) {
		m->last = now_ns();
		m->done = 1;
	}
}

/* drain takes what waits at one subscriber, up to BATCH messages, and returns how many. */
static int drain(struct meter *m, long bytes, int latencies) {
	zmq_msg_t message;
	int n = 0;
	for (zmq_msg_init(&message); n < BATCH; n++) {
		if (zmq_msg_recv(&message, m->socket, ZMQ_DONTWAIT) < 0) {
			if (zmq_errno() != EAGAIN && zmq_errno() != EINTR)
				fail("receive");
			break;
		}
		take(m, zmq_msg_data(&message), zmq_msg_size(&message), bytes, latencies);
	}
	zmq_msg_close(&message);
	return n;
}

static void subscribers(void *context, long count, long bytes, int latencies, const char *address) {
	struct meter *meters = calloc(count, sizeof *meters);
	zmq_pollitem_t *items = calloc(count, sizeof *items);
	for (long i = 0; i < count; i++) {
		void *socket = zmq_socket(context, ZMQ_SUB);
		if (!socket)
			fail("socket");
		set(socket, ZMQ_RCVHWM, HWM);
		check(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0), "subscribe");
		check(zmq_connect(socket, address), "connect");
		meters[i] = (struct meter){.socket = socket, .next = 1};
		items[i] = (zmq_pollitem_t){.socket = socket, .events = ZMQ_POLLIN};
	}
	double before = cpu_seconds();
	printf("{\"value\":{}}\n");
	fflush(stdout);
	for (long done = 0; done < count && !line_waits();) {
		int some = 0;
		done = 0;
		for (long i = 0; i < count; i++) {
			some += drain(&meters[i], bytes, latencies);
			done += meters[i].done;
		}
		if (!some && done < count && zmq_poll(items, count, POLL_MS) < 0 && zmq_errno() != EINTR)
			fail("poll");
	}
	printf("{\"value\":{\"meters\":[");
	for (long i = 0; i < count; i++)
		printf("%s{\"received\":%" PRIu64 ",\"disorder\":%" PRIu64 ",\"torn\":%" PRIu64
		       ",\"first_ns\":%" PRId64 ",\"last_ns\":%" PRId64 "}",
		       i ? "," : "", meters[i].received, meters[i].disorder, meters[i].torn,
		       meters[i].first, meters[i].last);
	printf("],\"latencies\":");
	print_bars(bars);
	printf(",\"usage\":");
	print_usage(before);
	printf("}}\n");
	fflush(stdout);
	for (;;)
		pause(); /* the parent ends us */
}

int main(int argc, char **argv) {
	pthread_t reader;
	if (argc == 2 && !strcmp(argv[1], "version")) {
		int major, minor, patch;
		zmq_version(&major, &minor, &patch);
		printf("%d.%d.%d\n", major, minor, patch);
		return 0;
	}
	void *context = zmq_ctx_new();
	if (!context || pthread_create(&reader, NULL, read_parent, NULL))
		fail("start");
#ifdef __linux__
	prctl(PR_SET_TIMERSLACK, 1UL); /* the publisher's pace: without it 50 µs later */
#endif
	check(zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 20000), "sockets");
	if (argc == 7 && !strcmp(argv[1], "pub")) {
		struct work w = {atol(argv[2]), atol(argv[3]), atol(argv[4]), atof(argv[5]), atol(argv[6])};
		publisher(context, &w);
	} else if (argc == 6 && !strcmp(argv[1], "sub")) {
		subscribers(context, atol(argv[2]), atol(argv[3]), atoi(argv[4]), argv[5]);
	}
	fprintf(stderr, "zmqpeer: wrong arguments\n");
	return 2;
}
