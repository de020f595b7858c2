/* A ring for one producer and one consumer. -D RELAXED_TAIL and -D WRONG_FULL_TEST put back two classic mistakes.
 *
 * memfence-test spsc_ring
 * object    struct ring q;
 * producer  push(v: unique) = push(&q, v)
 * consumer  pop()           = pop(&q)
 * finally   q.tail - q.head
 * at-most   1 producer, 1 consumer
 * clients   1 producer x 2, 1 consumer x 2
 * clients   1 producer x 3, 1 consumer x 1
 */
#include <stdatomic.h>
#include <stdbool.h>

#ifdef RELAXED_TAIL /* the slot is written, but the consumer need not see it yet */
#define PUBLISHED memory_order_relaxed
#else
#define PUBLISHED memory_order_release
#endif
#ifdef WRONG_FULL_TEST /* one element too many fits, and overwrites the oldest */
#define FULL(tail, head) ((tail) - (head) > PLACES)
#else
#define FULL(tail, head) ((tail) - (head) == PLACES)
#endif

enum { PLACES = 2 };

struct ring {
    int slots[PLACES];
    atomic_uint head, tail;
};

static bool push(struct ring *q, int value)
{
    unsigned tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    if (FULL(tail, atomic_load_explicit(&q->head, memory_order_acquire)))
        return false;
    q->slots[tail % PLACES] = value;
    atomic_store_explicit(&q->tail, tail + 1, PUBLISHED);
    return true;
}

static int pop(struct ring *q)
{
    unsigned head = atomic_load_explicit(&q->head, memory_order_relaxed);
    if (head == atomic_load_explicit(&q->tail, memory_order_acquire))
        return 0;
    int value = q->slots[head % PLACES];
    atomic_store_explicit(&q->head, head + 1, memory_order_release);
    return value;
}
