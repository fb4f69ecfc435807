/* What the publisher and the subscribers share: the clock, the parent's lines, CPU and memory,
 * latencies, integers. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <zmq.h>

static void fail(const char *what) {
	printf("{\"error\":\"zmq: %s: %s\"}\n", what, zmq_strerror(zmq_errno()));
	fflush(stdout);
	exit(1);
}

static void check(int result, const char *what) {
	if (result < 0)
		fail(what);
}

static int64_t now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t due) {
	int64_t wait = due - now_ns();
	struct timespec t = {wait / 1000000000, wait % 1000000000};
	if (wait > 0)
		nanosleep(&t, NULL);
}

/* The parent's lines, read by a thread that ends the process when the parent has gone. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char line[64];
	int full;
} inbox = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, "", 0};

static void *read_parent(void *unused) {
	char line[sizeof inbox.line];
	(void)unused;
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		pthread_mutex_lock(&inbox.lock);
		while (inbox.full)
			pthread_cond_wait(&inbox.changed, &inbox.lock);
		memcpy(inbox.line, line, sizeof line);
		inbox.full = 1;
		pthread_cond_broadcast(&inbox.changed);
		pthread_mutex_unlock(&inbox.lock);
	}
	_exit(0);
}

static void next_line(char *line) {
	pthread_mutex_lock(&inbox.lock);
	while (!inbox.full)
		pthread_cond_wait(&inbox.changed, &inbox.lock);
	memcpy(line, inbox.line, sizeof inbox.line);
	inbox.full = 0;
	pthread_cond_broadcast(&inbox.changed);
	pthread_mutex_unlock(&inbox.lock);
}

static int line_waits(void) {
	pthread_mutex_lock(&inbox.lock);
	int full = inbox.full;
	pthread_mutex_unlock(&inbox.lock);
	return full;
}

static double cpu_seconds(void) {
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static long rss_bytes(void) {
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f) {
		if (fscanf(f, "%*s %ld", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages * sysconf(_SC_PAGESIZE);
}

static void print_usage(double since) {
	printf("{\"cpu_s\":%.6f,\"rss_bytes\":%ld}", cpu_seconds() - since, rss_bytes());
}

/* Latencies, to three significant digits: 1024 bars for each power of two. */
enum { BARS = 1024 * 40 };
static uint64_t bars[BARS];

static int bar_shift(int64_t ns) { return ns < 2048 ? 0 : 53 - __builtin_clzll((uint64_t)ns); }

static void record(uint64_t *into, int64_t ns) {
	if (ns < 1)
		ns = 1;
	int i = bar_shift(ns) * 1024 + (int)(ns >> bar_shift(ns));
	into[i < BARS ? i : BARS - 1]++;
}

static void print_bars(const uint64_t *from) {
	const char *comma = "";
	printf("[");
	for (int i = 0; i < BARS; i++)
		if (from[i]) {
			int shift = i < 2048 ? 0 : i / 1024 - 1;
			int64_t ns = (int64_t)(i - shift * 1024) << shift;
			printf("%s[%" PRId64 ",%" PRIu64 "]", comma, ns + ((1 << shift) >> 1), from[i]);
			comma = ",";
		}
	printf("]");
}

static void put32(uint8_t *b, uint32_t v) {
	b[0] = v >> 24, b[1] = v >> 16, b[2] = v >> 8, b[3] = v;
}

static uint32_t get32(const uint8_t *b) {
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}
