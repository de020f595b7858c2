/* A ring buffer for one producer and one consumer: release and acquire are enough, on x86 without any fence. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SLOTS = 2, ITEMS = 4 };

static int slots[SLOTS];
static atomic_uint head, tail;

static void *producer(void *unused)
{
    for (unsigned item = 0; item < ITEMS; item++) {
        while (item - atomic_load_explicit(&head, memory_order_acquire) == SLOTS)
            ;
        slots[item % SLOTS] = (int)item + 1;
        atomic_store_explicit(&tail, item + 1, memory_order_release);
    }
    return 0;
}

static void *consumer(void *unused)
{
    for (unsigned item = 0; item < ITEMS; item++) {
        while (atomic_load_explicit(&tail, memory_order_acquire) == item)
            ;
        assert(slots[item % SLOTS] == (int)item + 1);
        atomic_store_explicit(&head, item + 1, memory_order_release);
    }
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
