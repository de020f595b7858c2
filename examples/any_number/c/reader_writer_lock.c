/* A reader-writer lock in one word, for any number of readers and any number of writers.
 *
 * `state` counts the readers inside, at most MOST of them, or is WRITER. What a writer writes in between nobody sees. With
 * BROKEN, a writer that has seen nobody inside just stores.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define MOST 2
#define WRITER 3

static atomic_int state;
static int data;

static void *reader(void *unused)
{
    int before = atomic_load(&state);
    do {
        if (before >= MOST)
            return 0;
    } while (!atomic_compare_exchange_weak(&state, &before, before + 1));
    assert(data == 0);
    atomic_fetch_sub(&state, 1);
    return 0;
}

static void *writer(void *unused)
{
#ifdef BROKEN
    while (atomic_load(&state) != 0)
        ;
    atomic_store(&state, WRITER);
#else
    int nobody = 0;
    while (!atomic_compare_exchange_weak(&state, &nobody, WRITER))
        nobody = 0;
#endif
    data = 1;
    data = 0;
    atomic_store_explicit(&state, 0, memory_order_release);
    return 0;
}

int main(void)
{
    pthread_t thread;
    for (;;) {
        pthread_create(&thread, 0, reader, 0);
        pthread_create(&thread, 0, writer, 0);
    }
}
