/* A counter under a ticket lock. -D RELAXED_UNLOCK lets the next owner see an old counter, -D NO_LOCK loses updates.
 *
 * memfence-test ticket_lock
 * any     increment() = increment()
 * finally counter
 * clients 2 x 2
 * clients 3 x 1
 */
#include <stdatomic.h>

#ifdef RELAXED_UNLOCK
#define RELEASED memory_order_relaxed
#else
#define RELEASED memory_order_release
#endif

static atomic_uint next_ticket, serving;
static int counter;

static int increment(void)
{
#ifndef NO_LOCK
    unsigned ticket = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != ticket)
        ;
#endif
    int old = counter;
    counter = old + 1;
#ifndef NO_LOCK
    atomic_store_explicit(&serving, ticket + 1, RELEASED);
#endif
    return old;
}
