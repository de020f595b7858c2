/* Message passing: WRITE is the order of the flag's store, READ that of its load. The reader looks once, or spins. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int data, flag;

static void *writer(void *unused)
{
    atomic_store_explicit(&data, 42, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, WRITE);
    return unused;
}

static void *reader(void *unused)
{
#ifdef SPIN
    while (atomic_load_explicit(&flag, READ) == 0)
        ;
#else
    if (atomic_load_explicit(&flag, READ) == 0)
        return unused;
#endif
    assert(atomic_load_explicit(&data, memory_order_relaxed) == 42);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
