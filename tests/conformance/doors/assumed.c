/* Executions in which an assumption is false do not count. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);
static atomic_int x, y;

static void *one(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return unused;
}

static void *two(void *unused)
{
    __VERIFIER_assume(atomic_load_explicit(&y, memory_order_relaxed) == 1);
#ifdef STRICT
    assert(atomic_load_explicit(&x, memory_order_relaxed) == 1);
#elif defined NEVER
    __VERIFIER_assume(0);
    assert(0);
#else
    assert(atomic_load_explicit(&y, memory_order_relaxed) == 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
