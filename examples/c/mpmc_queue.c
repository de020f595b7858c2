/* A bounded queue for many producers and consumers, with a sequence number in each slot (the design of D. Vyukov).
 *
 * Who wins the compare-exchange on the position owns the slot until it publishes the next sequence number.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SLOTS = 2 };

struct slot {
    atomic_uint sequence;
    int value;
};

static struct slot slots[SLOTS];
static atomic_uint enqueue_position, dequeue_position;
static atomic_int sum;

static void enqueue(int value)
{
    unsigned position = atomic_load_explicit(&enqueue_position, memory_order_relaxed);
    struct slot *slot;
    for (;;) {
        slot = &slots[position % SLOTS];
        unsigned sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);
        if (sequence == position) {
            if (atomic_compare_exchange_weak_explicit(&enqueue_position, &position, position + 1,
                                                      memory_order_relaxed, memory_order_relaxed))
                break;
        } else {
            position = atomic_load_explicit(&enqueue_position, memory_order_relaxed);
        }
    }
    slot->value = value;
    atomic_store_explicit(&slot->sequence, position + 1, memory_order_release);
}

static int dequeue(void)
{
    unsigned position = atomic_load_explicit(&dequeue_position, memory_order_relaxed);
    struct slot *slot;
    for (;;) {
        slot = &slots[position % SLOTS];
        unsigned sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);
        if (sequence == position + 1) {
            if (atomic_compare_exchange_weak_explicit(&dequeue_position, &position, position + 1,
                                                      memory_order_relaxed, memory_order_relaxed))
                break;
        } else {
            position = atomic_load_explicit(&dequeue_position, memory_order_relaxed);
        }
    }
    int value = slot->value;
    atomic_store_explicit(&slot->sequence, position + SLOTS, memory_order_release);
    return value;
}

static void *produce(void *value)
{
    enqueue((int)(long)value);
    return 0;
}

static void *consume(void *unused)
{
    atomic_fetch_add(&sum, dequeue());
    return 0;
}

int main(void)
{
    pthread_t t[4];
    for (unsigned n = 0; n < SLOTS; n++)
        atomic_init(&slots[n].sequence, n);
    pthread_create(&t[0], 0, produce, (void *)1);
    pthread_create(&t[1], 0, produce, (void *)2);
    pthread_create(&t[2], 0, consume, 0);
    pthread_create(&t[3], 0, consume, 0);
    for (int n = 0; n < 4; n++)
        pthread_join(t[n], 0);
    assert(atomic_load(&sum) == 3);
    return 0;
}
