/* A test-and-test-and-set lock, taken again and again by any number of threads.
 *
 * Whoever waits only loads. Each thread gets the address of the same lock; `main` creates threads for ever. With BROKEN,
 * a thread that has seen the lock free takes it without looking again.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct lock {
    atomic_int taken;
    int owners;
};

static struct lock the_lock;

static void *worker(void *argument)
{
    struct lock *lock = argument;
    for (;;) {
        do {
            while (atomic_load_explicit(&lock->taken, memory_order_relaxed))
                ;
#ifdef BROKEN
        } while (atomic_store(&lock->taken, 1), 0);
#else
        } while (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire));
#endif
        lock->owners++;
        assert(lock->owners == 1);
        lock->owners--;
        atomic_store_explicit(&lock->taken, 0, memory_order_release);
    }
}

int main(void)
{
    pthread_t thread;
    for (;;)
        pthread_create(&thread, 0, worker, &the_lock);
}
