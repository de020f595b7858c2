/* A Treiber stack that reuses nodes: the ABA problem, under any memory model.
 *
 * One thread has read the top (node 1) and its successor (node 2) when the other pops both and pushes node 1 again.
 * The compare-exchange succeeds, since the top is node 1 as before, and makes node 2, which is in use, the top.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int top = 1;
static int next[3] = {0, 2, 0};
static atomic_int in_use[3];

static int pop(void)
{
    int node = atomic_load(&top);
    while (node && !atomic_compare_exchange_weak(&top, &node, next[node]))
        ;
    return node;
}

static void push(int node)
{
    int old = atomic_load(&top);
    do {
        next[node] = old;
    } while (!atomic_compare_exchange_weak(&top, &old, node));
}

static void take(int node)
{
    if (node)
        assert(atomic_exchange(&in_use[node], 1) == 0);
}

static void *one(void *unused)
{
    take(pop());
    take(pop());
    return 0;
}

static void *other(void *unused)
{
    int first = pop();
    take(pop());
    if (first)
        push(first);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
