/* A work-stealing deque of fixed size, after Chase and Lev: its owner puts and takes at one end, thieves steal at the
 * other. -D NO_FENCE lets the owner and a thief take the same last element, -D RELAXED_BOTTOM publishes it without content.
 *
 * memfence-test chase_lev
 * owner    put(v: unique) : put(v)
 * owner    take()         = take()
 * thief    steal()        = steal()
 * may-fail steal = -1
 * at-most  1 owner, 2 thief
 * clients  1 owner x 3, 1 thief x 2
 */
#include <stdatomic.h>

#ifdef RELAXED_BOTTOM
#define PUBLISHED memory_order_relaxed
#else
#define PUBLISHED memory_order_release
#endif

static atomic_int top, bottom;
static atomic_int tasks[4];

static void put(int task)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&tasks[b], task, memory_order_relaxed);
    atomic_store_explicit(&bottom, b + 1, PUBLISHED);
}

/* The newest task, 0 where there is none. */
static int take(void)
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
#ifndef NO_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    int task = 0;
    if (t <= b) {
        task = atomic_load_explicit(&tasks[b], memory_order_relaxed);
        if (t != b)
            return task;
        if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
            task = 0;
    }
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    return task;
}

/* The oldest task, 0 where there is none, -1 where somebody else was faster. */
static int steal(void)
{
    int t = atomic_load_explicit(&top, memory_order_acquire);
#ifndef NO_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int b = atomic_load_explicit(&bottom, memory_order_acquire);
    if (t >= b)
        return 0;
    int task = atomic_load_explicit(&tasks[t], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
        return -1;
    return task;
}
