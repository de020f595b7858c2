/* A writer that moves readers to another slot and then waits until the old one is unused, after
 * openssl/openssl#26964 (4a1a7fe5): a reader that still takes the old slot must be counted before the writer looks.
 * As it was: a relaxed store, then an acquire load. RELEASE: the store releases, as one reviewer proposed. FENCES: a
 * fence on each side. RMW: the dummy release operation that upstream chose. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int reader_slot, users;
static int held, retired;

static void *reader(void *unused)
{
    if (atomic_load_explicit(&reader_slot, memory_order_relaxed) == 0) {
        atomic_fetch_add_explicit(&users, 1, memory_order_acquire);
#ifdef FENCES
        atomic_thread_fence(memory_order_seq_cst);
#endif
        held = atomic_load_explicit(&reader_slot, memory_order_relaxed) == 0;
    }
    return 0;
}

static void *writer(void *unused)
{
#ifdef RELEASE
    atomic_store_explicit(&reader_slot, 1, memory_order_release);
#else
    atomic_store_explicit(&reader_slot, 1, memory_order_relaxed);
#endif
#if defined RMW
    atomic_fetch_add_explicit(&users, 0, memory_order_release);
#elif defined FENCES
    atomic_thread_fence(memory_order_seq_cst);
#endif
    retired = atomic_load_explicit(&users, memory_order_acquire) == 0;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(!(held && retired));
    return 0;
}
