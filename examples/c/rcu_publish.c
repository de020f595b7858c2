/* Publication of an object by a pointer: first the fields, then the pointer with release. Readers need no fence. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int version;
    int checksum;
};

static _Atomic(struct config *) current;

static void *updater(void *unused)
{
    for (int version = 1; version <= 2; version++) {
        struct config *next = malloc(sizeof *next);
        next->version = version;
        next->checksum = 10 * version;
        atomic_store_explicit(&current, next, memory_order_release);
    }
    return 0;
}

static void *reader(void *unused)
{
    for (int round = 0; round < 2; round++) {
        struct config *seen = atomic_load_explicit(&current, memory_order_consume);
        if (seen)
            assert(seen->checksum == 10 * seen->version);
    }
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, updater, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
