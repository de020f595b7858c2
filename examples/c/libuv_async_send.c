/* libuv, src/unix/async.c: uv_async_send() looks at `pending` before it does anything, and returns early where it is set:
   the loop will be woken, and will see what was posted before. On x86 the look may be earlier than the store in front of
   it: the loop clears `pending`, sees the old `posted`, and sleeps; nobody wakes it again. The example has the early
   return, the exchange on each side, and a caller that posts by an atomic store without a lock. A caller that posts
   under a mutex has a locked instruction in between, and is safe on x86. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static atomic_int pending;
static atomic_int posted;
static sem_t wakeup;

static void async_send(void)
{
    if (atomic_load_explicit(&pending, memory_order_relaxed) != 0)
        return;
    if (atomic_exchange(&pending, 1) == 0)
        sem_post(&wakeup);
}

static void *sender(void *unused)
{
    for (int item = 1; item <= 2; item++) {
        atomic_store_explicit(&posted, item, memory_order_release);
        async_send();
    }
    return 0;
}

static void *loop(void *unused)
{
    int seen = 0;
    while (seen < 2) {
        sem_wait(&wakeup);
        if (atomic_exchange(&pending, 0) != 0)
            seen = atomic_load_explicit(&posted, memory_order_acquire);
    }
    return 0;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&wakeup, 0, 0);
    pthread_create(&a, 0, sender, 0);
    pthread_create(&b, 0, loop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
