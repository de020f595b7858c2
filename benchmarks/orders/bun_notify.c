/* A thread pool that skips a wake-up which somebody else has announced already, after the description of
 * oven-sh/bun#28907 (770893d2): the worker that consumes the announcement must see the task that was pushed before.
 * As it was: the announcement is read by a relaxed load. SEQ_CST: by a seq_cst one. FENCES: with a fence on each side.
 * RMW: by the read-modify-write that upstream chose, which writes back what it read. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int notified = 1, task;
static int skipped, missed;

static void *schedule(void *unused)
{
    atomic_exchange_explicit(&task, 1, memory_order_release);
#if defined RMW
    int is_notified = atomic_fetch_or_explicit(&notified, 0, memory_order_release);
#elif defined SEQ_CST
    int is_notified = atomic_load_explicit(&notified, memory_order_seq_cst);
#else
#ifdef FENCES
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int is_notified = atomic_load_explicit(&notified, memory_order_relaxed);
#endif
    skipped = is_notified;
    return 0;
}

static void *worker(void *unused)
{
    int expected = 1;
    if (atomic_compare_exchange_strong_explicit(&notified, &expected, 0, memory_order_acquire, memory_order_relaxed)) {
#ifdef FENCES
        atomic_thread_fence(memory_order_seq_cst);
#endif
        missed = !atomic_load_explicit(&task, memory_order_acquire);
    }
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, schedule, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(!(skipped && missed));
    return 0;
}
