/* An event count: any number of threads wait for an event; who signals it wakes nobody if nobody waits.
 *
 * A waiter announces itself, then looks whether the event has happened; if not, it sleeps. The signaller notes the event,
 * then looks whether somebody waits. Nobody may fall asleep while it finds nobody. With BROKEN the fence between its store
 * and its load is missing: fix it with --any-number waiter.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

static atomic_int happened, waiting;
static atomic_int asleep, silent;

static void *waiter(void *unused)
{
    atomic_exchange(&waiting, 1);
    if (!atomic_load_explicit(&happened, memory_order_acquire)) {
        atomic_store(&asleep, 1);
        assert(!atomic_load(&silent));
    }
    return 0;
}

static void *signaller(void *unused)
{
    atomic_store_explicit(&happened, 1, memory_order_release);
#ifndef BROKEN
    atomic_thread_fence(memory_order_seq_cst);
#endif
    if (!atomic_load_explicit(&waiting, memory_order_relaxed)) {
        atomic_store(&silent, 1);
        assert(!atomic_load(&asleep));
    }
    return 0;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, signaller, 0);
    int threads = __VERIFIER_nondet_int();
    for (int i = 0; i < threads; i++)
        pthread_create(&thread, 0, waiter, 0);
    return 0;
}
