/* A set with one bucket: a list of numbers under a spin lock, which looking for a number does not take.
 * -D UNLOCKED_ADD loses numbers, -D RELAXED_LINK shows a node without its number.
 *
 * memfence-test hash_set
 * any     add(v: 1..2)      = add(v)
 * any     contains(v: 1..2) = contains(v)
 * finally contains(1) + 2 * contains(2)
 * clients 2 x 1
 */
#include <stdatomic.h>
#include <stdbool.h>

#ifdef RELAXED_LINK
#define PUBLISHED memory_order_relaxed
#else
#define PUBLISHED memory_order_release
#endif

enum { MOST = 4 };

static int values[MOST + 1]; /* of node 1, 2, ... */
static int below[MOST + 1];
static atomic_int bucket; /* the newest node, 0: none */
static atomic_int used, held;

static bool contains(int value)
{
    for (int node = atomic_load_explicit(&bucket, memory_order_acquire); node != 0; node = below[node])
        if (values[node] == value)
            return true;
    return false;
}

static bool add(int value)
{
#ifndef UNLOCKED_ADD
    while (atomic_exchange_explicit(&held, 1, memory_order_acquire))
        ;
#endif
    bool is_new = !contains(value);
    if (is_new) {
        int node = atomic_fetch_add_explicit(&used, 1, memory_order_relaxed) + 1;
        values[node] = value;
        below[node] = atomic_load_explicit(&bucket, memory_order_relaxed);
        atomic_store_explicit(&bucket, node, PUBLISHED);
    }
#ifndef UNLOCKED_ADD
    atomic_store_explicit(&held, 0, memory_order_release);
#endif
    return is_new;
}
