/* Memory reclaimed under a reader's feet: Concurrency Kit, commit 4fc1717 (ck_epoch_begin).
 *
 * A reader marks itself active and then reads the shared pointer. A writer removes the object from the structure,
 * executes a barrier, and frees the object if no reader is active. The reader's mark may still be in its store buffer
 * when it reads the pointer: the writer sees no reader and frees what the reader is about to use.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    int value;
};

static _Atomic(struct object *) current;
static atomic_int active;

static void *reader(void *unused)
{
    atomic_store_explicit(&active, 1, memory_order_relaxed);
    struct object *seen = atomic_load_explicit(&current, memory_order_acquire);
    int value = seen ? seen->value : 0;
    atomic_store_explicit(&active, 0, memory_order_release);
    return (void *)(long)value;
}

static void *writer(void *unused)
{
    struct object *old = atomic_load_explicit(&current, memory_order_relaxed);
    atomic_store_explicit(&current, NULL, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&active, memory_order_acquire))
        ;
    free(old);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    struct object *first = malloc(sizeof *first);
    first->value = 7;
    atomic_init(&current, first);
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
