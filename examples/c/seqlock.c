/* A sequence lock: readers retry while a writer is at work. On x86 stores stay in order and so do loads: it holds. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int left, right;

static void *writer(void *unused)
{
    for (int value = 1; value <= 2; value++) {
        atomic_store_explicit(&sequence, 2 * value - 1, memory_order_relaxed);
        atomic_store_explicit(&left, value, memory_order_release);
        atomic_store_explicit(&right, value, memory_order_release);
        atomic_store_explicit(&sequence, 2 * value, memory_order_release);
    }
    return 0;
}

static void *reader(void *unused)
{
    unsigned before, after;
    int a, b;
    do {
        before = atomic_load_explicit(&sequence, memory_order_acquire);
        a = atomic_load_explicit(&left, memory_order_acquire);
        b = atomic_load_explicit(&right, memory_order_acquire);
        after = atomic_load_explicit(&sequence, memory_order_relaxed);
    } while (before != after || before % 2);
    assert(a == b);
    return 0;
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
