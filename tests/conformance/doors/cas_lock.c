/* A spin lock by compare-exchange, with success order S and failure order F, around a plain counter. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef WEAK
#define EXCHANGE atomic_compare_exchange_weak_explicit
#else
#define EXCHANGE atomic_compare_exchange_strong_explicit
#endif

static atomic_int lock;
static int counter;

static void *work(void *unused)
{
    int expected = 0;
    while (!EXCHANGE(&lock, &expected, 1, S, F))
        expected = 0;
    counter++;
    atomic_store_explicit(&lock, 0, memory_order_release);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2);
    return 0;
}
