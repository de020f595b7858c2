/* The stack of treiber_aba.c with a tag beside the top: every change of the top changes the tag, so a compare-exchange
 * notices that the top was away in between. It holds.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { NODE = 3, TAG = 4 };

static atomic_int top = 1;
static atomic_int next[3];
static atomic_int in_use[3];

static int pop(void)
{
    int old = atomic_load(&top);
    while ((old & NODE) && !atomic_compare_exchange_weak(&top, &old, (old & ~NODE) + TAG + next[old & NODE]))
        ;
    return old & NODE;
}

static void push(int node)
{
    int old = atomic_load(&top);
    do {
        next[node] = old & NODE;
    } while (!atomic_compare_exchange_weak(&top, &old, (old & ~NODE) + TAG + node));
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
    atomic_init(&next[1], 2);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
