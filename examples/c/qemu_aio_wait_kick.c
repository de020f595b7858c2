/* A kick that is not given: QEMU, commit 7455ff1aa0 ("aio_wait_kick: add missing memory barrier").
 *
 * A waiter counts itself (a locked instruction) and polls until its condition is true; it blocks in the poll. Whoever
 * makes the condition true kicks the poll if somebody waits. The store of the condition may still be in the store
 * buffer when the count is read. One barrier, in the kick, is enough: the waiter's increment is one already.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static atomic_int waiting;
static atomic_int condition;
static sem_t poll_event;

static void *completer(void *unused)
{
    atomic_store_explicit(&condition, 1, memory_order_relaxed);
    if (atomic_load_explicit(&waiting, memory_order_relaxed))
        sem_post(&poll_event);
    return 0;
}

static void *waiter(void *unused)
{
    atomic_fetch_add(&waiting, 1);
    while (!atomic_load_explicit(&condition, memory_order_relaxed))
        sem_wait(&poll_event);
    atomic_fetch_sub(&waiting, 1);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&poll_event, 0, 0);
    pthread_create(&a, 0, completer, 0);
    pthread_create(&b, 0, waiter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
