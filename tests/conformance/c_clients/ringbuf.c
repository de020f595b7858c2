/* One producer and the consumer of rmind's ringbuf: what is consumed was written before, and in order. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "ringbuf.h"

static unsigned char buffer[4];
static ringbuf_t *ring;

static void *produce(void *unused)
{
    ringbuf_worker_t *worker = ringbuf_register(ring, 0);
    for (int i = 1; i <= 2; i++) {
        ssize_t at = ringbuf_acquire(ring, worker, 1);
        if (at < 0)
            break;
        buffer[at] = (unsigned char)i;
        ringbuf_produce(ring, worker);
    }
    return unused;
}

int main(void)
{
    size_t size, offset;
    ringbuf_get_sizes(1, &size, 0);
    ring = malloc(size);
    ringbuf_setup(ring, 1, sizeof buffer);
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    size_t length = ringbuf_consume(ring, &offset);
    if (length) {
        assert(offset == 0 && length <= 2);
        for (size_t i = 0; i < length; i++)
            assert(buffer[offset + i] == i + 1);
        ringbuf_release(ring, length);
    }
    pthread_join(producer, 0);
    return 0;
}
