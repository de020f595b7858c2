/* A control: the latch of postgresql_latch.c with exchanges instead of stores. Locked instructions drain the store
 * buffer, so it holds on x86 without a fence.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int is_set = 1;
static atomic_int request;
static int seen, set_again;

static void *set_latch(void *unused)
{
    atomic_exchange(&request, 1);
    if (!atomic_load_explicit(&is_set, memory_order_relaxed))
        set_again = 1;
    return 0;
}

static void *wait_loop(void *unused)
{
    atomic_exchange(&is_set, 0);
    if (atomic_load_explicit(&request, memory_order_relaxed))
        seen = 1;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, set_latch, 0);
    pthread_create(&b, 0, wait_loop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(seen || set_again);
    return 0;
}
