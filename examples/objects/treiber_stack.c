/* A stack of numbered nodes with a free list. A tag beside the top counts pops, so that a top that comes back is not
 * taken for the old one; -D NO_TAG leaves it out (ABA), -D RELAXED_PUSH publishes a node without its content.
 *
 * memfence-test treiber_stack
 * before  add(&top, 1); add(&top, 2)
 * taker   pop()         = take(&top)
 * mover   take()        = take(&top)
 * mover   push(v: 1..2) = add(&top, v)
 * finally top & 255
 * clients 1 taker x 1, 1 mover x 3
 *
 * A node is its own value: push(1) adds node 1, and is refused while node 1 is in the stack.
 */
#include <stdatomic.h>
#include <stdbool.h>

#ifdef NO_TAG
#define NEXT_TAG(word) 0u
#else
#define NEXT_TAG(word) (((word) & ~255u) + 256u)
#endif
#ifdef RELAXED_PUSH
#define PUBLISHED memory_order_relaxed
#else
#define PUBLISHED memory_order_release
#endif

static atomic_uint top;     /* the number of the first node, 0: none; above it the tag */
static atomic_uint next[3]; /* the node below */
static atomic_int is_in[3];

static bool add(atomic_uint *top, unsigned node)
{
    if (atomic_exchange_explicit(&is_in[node], 1, memory_order_acquire))
        return false;
    unsigned old = atomic_load_explicit(top, memory_order_relaxed);
    do
        atomic_store_explicit(&next[node], old & 255u, memory_order_relaxed);
    while (!atomic_compare_exchange_strong_explicit(top, &old, (old & ~255u) | node, PUBLISHED, memory_order_relaxed));
    return true;
}

static unsigned take(atomic_uint *top)
{
    unsigned old = atomic_load_explicit(top, memory_order_acquire);
    unsigned below;
    do {
        if ((old & 255u) == 0)
            return 0;
        below = atomic_load_explicit(&next[old & 255u], memory_order_relaxed);
    } while (!atomic_compare_exchange_strong_explicit(top, &old, NEXT_TAG(old) | below, memory_order_acq_rel,
                                                      memory_order_acquire));
    atomic_store_explicit(&is_in[old & 255u], 0, memory_order_release);
    return old & 255u;
}
