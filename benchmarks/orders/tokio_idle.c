/* A scheduler that wakes nobody while some worker still searches, after tokio-rs/tokio#1788 (67869be3): the worker that
 * stops searching must see the task that was pushed before. The push is under a mutex: a locked operation.
 * As it was: the number of searching workers is read by a seq_cst load. FENCES: with a fence on each side. RMW: by
 * fetch_add(0), as upstream chose. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int searching = 1, task;
static int skipped, missed;

static void *schedule(void *unused)
{
    atomic_exchange_explicit(&task, 1, memory_order_acq_rel);
#if defined RMW
    int others = atomic_fetch_add_explicit(&searching, 0, memory_order_seq_cst);
#else
#ifdef FENCES
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int others = atomic_load_explicit(&searching, memory_order_seq_cst);
#endif
    skipped = others;
    return 0;
}

static void *worker(void *unused)
{
    atomic_fetch_sub_explicit(&searching, 1, memory_order_seq_cst);
#ifdef FENCES
    atomic_thread_fence(memory_order_seq_cst);
#endif
    missed = !atomic_load_explicit(&task, memory_order_acquire);
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
