/* A message and a flag that says it is there: release and acquire are what C11 and ARM need, and what x86 does anyway. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int ready;

static void *writer(void *unused)
{
    message = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return 0;
}

static void *reader(void *unused)
{
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(message == 42);
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
