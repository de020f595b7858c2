/* A pair behind a sequence lock: one writer, readers that give up after two tries. -D NO_FENCE lets a reader take half of
 * one pair and half of the next.
 *
 * memfence-test seqlock
 * writer   write(v: unique) : write_pair(v)
 * reader   read()           = read_pair()
 * may-fail read = -1
 * at-most  1 writer
 * clients  1 writer x 2, 1 reader x 1
 * clients  1 writer x 1, 2 reader x 1
 */
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int first, second;

static void write_pair(int value)
{
    unsigned old = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, old + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&first, value, memory_order_relaxed);
    atomic_store_explicit(&second, value, memory_order_relaxed);
    atomic_store_explicit(&sequence, old + 2, memory_order_release);
}

/* Both halves as one number, -1 where the writer was in the way. */
static int read_pair(void)
{
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    int a = atomic_load_explicit(&first, memory_order_relaxed);
    int b = atomic_load_explicit(&second, memory_order_relaxed);
#ifndef NO_FENCE
    atomic_thread_fence(memory_order_acquire);
#endif
    if (before % 2 != 0 || atomic_load_explicit(&sequence, memory_order_relaxed) != before)
        return -1;
    return 10 * a + b;
}
