/* A queue as a linked list with a dummy node, after Michael and Scott; nodes are numbered and used once.
 * -D RELAXED_NEXT links a node without its content, -D NO_RETRY takes the element of a head that has moved on.
 *
 * memfence-test michael_scott
 * before  start()
 * any     enqueue(v: unique) : enqueue(v)
 * any     dequeue()          = dequeue()
 * clients 2 x 1
 * clients 2 x 2
 */
#include <stdatomic.h>

#ifdef RELAXED_NEXT
#define PUBLISHED memory_order_relaxed
#else
#define PUBLISHED memory_order_release
#endif

enum { NODES = 6 };

static int values[NODES];
static atomic_int next[NODES]; /* 0: the last one */
static atomic_int head, tail, used;

static void start(void)
{
    used = 1; /* node 1 is the dummy */
    head = tail = 1;
}

static void enqueue(int value)
{
    int node = atomic_fetch_add_explicit(&used, 1, memory_order_relaxed) + 1;
    values[node] = value;
    for (;;) {
        int last = atomic_load_explicit(&tail, memory_order_acquire);
        int none = 0;
        if (atomic_compare_exchange_strong_explicit(&next[last], &none, node, PUBLISHED, memory_order_acquire)) {
            atomic_compare_exchange_strong_explicit(&tail, &last, node, memory_order_release, memory_order_relaxed);
            return;
        }
        atomic_compare_exchange_strong_explicit(&tail, &last, none, memory_order_release, memory_order_relaxed);
    }
}

static int dequeue(void)
{
    for (;;) {
        int first = atomic_load_explicit(&head, memory_order_acquire);
        int last = atomic_load_explicit(&tail, memory_order_acquire);
        int second = atomic_load_explicit(&next[first], memory_order_acquire);
        if (second == 0)
            return 0;
        if (first == last) {
            atomic_compare_exchange_strong_explicit(&tail, &last, second, memory_order_release, memory_order_relaxed);
            continue;
        }
        int value = values[second];
#ifdef NO_RETRY
        atomic_store_explicit(&head, second, memory_order_release);
        return value;
#else
        if (atomic_compare_exchange_strong_explicit(&head, &first, second, memory_order_acq_rel, memory_order_relaxed))
            return value;
#endif
    }
}
