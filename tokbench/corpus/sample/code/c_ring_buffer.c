/* A byte queue of fixed size, used here to split an input stream into lines. */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RING_BITS 6u
#define RING_SIZE (1u << RING_BITS)
#define RING_MASK (RING_SIZE - 1u)

#ifdef RING_TRACE
#define TRACE(fmt, ...) fprintf(stderr, "%s:%d: " fmt "\n", __FILE__, __LINE__, __VA_ARGS__)
#else
#define TRACE(fmt, ...) ((void)0)
#endif

typedef struct {
	uint8_t bytes[RING_SIZE];
	uint32_t head;		/* next slot to write, counts up for ever */
	uint32_t tail;		/* next slot to read */
	uint64_t dropped;
} ring_t;

typedef enum {
	LINE_NONE,
	LINE_OK,
	LINE_TRUNCATED,
} line_status_t;

typedef void (*line_handler_fn)(const char *line, size_t length, void *context);

static inline uint32_t ring_used(const ring_t *ring)
{
	return ring->head - ring->tail;
}

static inline uint32_t ring_free(const ring_t *ring)
{
	return RING_SIZE - ring_used(ring);
}

static size_t ring_write(ring_t *ring, const void *data, size_t length)
{
	const uint8_t *src = data;
	size_t taken = length < ring_free(ring) ? length : ring_free(ring);

	for (size_t i = 0; i < taken; i++)
		ring->bytes[ring->head++ & RING_MASK] = src[i];
	ring->dropped += length - taken;
	TRACE("wrote %zu of %zu bytes", taken, length);
	return taken;
}

static int ring_find(const ring_t *ring, uint8_t wanted)
{
	for (uint32_t i = 0; i < ring_used(ring); i++) {
		if (ring->bytes[(ring->tail + i) & RING_MASK] == wanted)
			return (int)i;
	}
	return -1;
}

static line_status_t ring_read_line(ring_t *ring, char *out, size_t capacity)
{
	int newline = ring_find(ring, '\n');
	size_t length = 0;

	assert(capacity > 0);
	if (newline < 0)
		return LINE_NONE;
	for (int i = 0; i < newline; i++) {
		char ch = (char)ring->bytes[ring->tail++ & RING_MASK];

		if (length + 1 < capacity)
			out[length++] = ch;
	}
	ring->tail++;		/* step over the newline itself */
	out[length] = '\0';
	return (size_t)newline > length ? LINE_TRUNCATED : LINE_OK;
}

static unsigned drain(ring_t *ring, line_handler_fn handler, void *context)
{
	char line[24];
	unsigned count = 0;
	line_status_t status;

	while ((status = ring_read_line(ring, line, sizeof line)) != LINE_NONE) {
		switch (status) {
		case LINE_TRUNCATED:
			fputs("warning: long line cut short\n", stderr);
			/* fall through */
		case LINE_OK:
			handler(line, strlen(line), context);
			count++;
			break;
		default:
			break;
		}
	}
	return count;
}

static void print_hex(const char *line, size_t length, void *context)
{
	unsigned *number = context;

	printf("%3u | %-14s |", ++*number, line);
	for (size_t i = 0; i < length; i++)
		printf(" %02" PRIX8 "%s", (uint8_t)line[i], isupper((unsigned char)line[i]) ? "^" : "");
	putchar('\n');
}

int main(void)
{
	static const char *const chunks[] = {
		"Hello, ", "world\nGrüße ", "aus Köln\n\n", "a line much longer than the buffer allows\n",
	};
	ring_t ring = { .head = 0, .tail = 0 };
	unsigned number = 0;

	for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
		ring_write(&ring, chunks[i], strlen(chunks[i]));
		drain(&ring, print_hex, &number);
	}
	printf("%u lines, %" PRIu64 " bytes dropped\n", number, ring.dropped);
	return ring.dropped == 0 ? 0 : 1;
}
