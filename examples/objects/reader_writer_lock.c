/* A pair under a lock for one writer or several readers. -D IGNORES_READERS lets the writer in beside a reader.
 *
 * memfence-test reader_writer_lock
 * any     write(v: unique) : write_pair(v)
 * any     read()           = read_pair()
 * clients 2 x 1
 * clients 2 x 2
 */
#include <stdatomic.h>

enum { WRITER = 1 << 8 };

static atomic_int state; /* how many readers are inside, or WRITER */
static int first, second;

static void write_pair(int value)
{
    int old = 0;
#ifdef IGNORES_READERS
    old = atomic_load_explicit(&state, memory_order_relaxed);
    while (old >= WRITER || !atomic_compare_exchange_strong_explicit(&state, &old, old + WRITER, memory_order_acquire,
                                                                     memory_order_relaxed))
        old = atomic_load_explicit(&state, memory_order_relaxed);
#else
    while (!atomic_compare_exchange_strong_explicit(&state, &old, WRITER, memory_order_acquire, memory_order_relaxed))
        old = 0;
#endif
    first = value;
    second = value;
    atomic_fetch_sub_explicit(&state, WRITER, memory_order_release);
}

static int read_pair(void)
{
    int old = atomic_load_explicit(&state, memory_order_relaxed);
    while (old >= WRITER || !atomic_compare_exchange_strong_explicit(&state, &old, old + 1, memory_order_acquire,
                                                                     memory_order_relaxed))
        old = atomic_load_explicit(&state, memory_order_relaxed);
    int pair = 10 * first + second;
    atomic_fetch_sub_explicit(&state, 1, memory_order_release);
    return pair;
}
