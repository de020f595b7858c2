/* One compare-exchange without a loop: a weak one may fail though nobody else touches the variable. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic TYPE cell;

static void *work(void *unused)
{
    TYPE expected = 0;
#ifdef WEAK
    int done = atomic_compare_exchange_weak_explicit(&cell, &expected, 1, memory_order_seq_cst, memory_order_relaxed);
#else
    int done = atomic_compare_exchange_strong_explicit(&cell, &expected, 1, memory_order_seq_cst, memory_order_relaxed);
#endif
#ifdef VALUE
    assert(done || expected == 0);
#else
    assert(done);
#endif
    return unused;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
