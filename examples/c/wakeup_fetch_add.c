/* A control: the lost wake-up of sober_lost_wakeup.c with a locked increment on each side. It holds on x86. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static atomic_int is_idling;
static atomic_int elements;
static sem_t wake;

static void *consumer(void *unused)
{
    atomic_fetch_add_explicit(&is_idling, 1, memory_order_relaxed);
    if (atomic_load_explicit(&elements, memory_order_relaxed) == 0)
        sem_wait(&wake);
    return 0;
}

static void *producer(void *unused)
{
    atomic_fetch_add_explicit(&elements, 1, memory_order_relaxed);
    if (atomic_load_explicit(&is_idling, memory_order_relaxed))
        sem_post(&wake);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&wake, 0, 0);
    pthread_create(&a, 0, consumer, 0);
    pthread_create(&b, 0, producer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
