/* A bounded queue for any number of producers and consumers, after Dmitry Vyukov: a sequence number per cell says whose
 * turn it is. -D RELAXED_SEQUENCE publishes a cell without its content.
 *
 * memfence-test mpmc_queue
 * object  struct queue q = {.cells = {{.sequence = 0}, {.sequence = 1}}};
 * any     push(v: unique) = push(&q, v)
 * any     pop()           = pop(&q)
 * clients 2 x 2
 */
#include <stdatomic.h>
#include <stdbool.h>

#ifdef RELAXED_SEQUENCE
#define PUBLISHED memory_order_relaxed
#else
#define PUBLISHED memory_order_release
#endif

enum { CELLS = 2 };

struct queue {
    struct {
        atomic_uint sequence;
        int value;
    } cells[CELLS];
    atomic_uint head, tail;
};

static bool push(struct queue *q, int value)
{
    unsigned place = atomic_load_explicit(&q->tail, memory_order_relaxed);
    for (;;) {
        unsigned sequence = atomic_load_explicit(&q->cells[place % CELLS].sequence, memory_order_acquire);
        if (sequence == place) {
            if (atomic_compare_exchange_strong_explicit(&q->tail, &place, place + 1, memory_order_relaxed,
                                                        memory_order_relaxed))
                break;
        } else if ((int)(sequence - place) < 0)
            return false;
        else
            place = atomic_load_explicit(&q->tail, memory_order_relaxed);
    }
    q->cells[place % CELLS].value = value;
    atomic_store_explicit(&q->cells[place % CELLS].sequence, place + 1, PUBLISHED);
    return true;
}

static int pop(struct queue *q)
{
    unsigned place = atomic_load_explicit(&q->head, memory_order_relaxed);
    for (;;) {
        unsigned sequence = atomic_load_explicit(&q->cells[place % CELLS].sequence, memory_order_acquire);
        if (sequence == place + 1) {
            if (atomic_compare_exchange_strong_explicit(&q->head, &place, place + 1, memory_order_relaxed,
                                                        memory_order_relaxed))
                break;
        } else if ((int)(sequence - (place + 1)) < 0)
            return 0;
        else
            place = atomic_load_explicit(&q->head, memory_order_relaxed);
    }
    int value = q->cells[place % CELLS].value;
    atomic_store_explicit(&q->cells[place % CELLS].sequence, place + CELLS, memory_order_release);
    return value;
}
