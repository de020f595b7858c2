/* A test-and-set lock, taken by any number of threads.
 *
 * `main` creates as many threads as a number says that nobody knows, and nobody waits for them. With BROKEN, to look at
 * the lock and to take it are two steps.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

extern int __VERIFIER_nondet_int(void);

static atomic_int taken;
static int inside;

static void lock(void)
{
#ifdef BROKEN
    while (atomic_load(&taken))
        ;
    atomic_store(&taken, 1);
#else
    while (atomic_exchange(&taken, 1))
        ;
#endif
}

static void *worker(void *unused)
{
    lock();
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store_explicit(&taken, 0, memory_order_release);
    return 0;
}

int main(void)
{
    int threads = __VERIFIER_nondet_int();
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, worker, 0);
        pthread_detach(thread);
    }
    return 0;
}
