/* A flag that is read too early, on ARM: Xen, commit 109e8177fd.
 *
 * One side sets a bit of a shared word and then reads a flag; the other sets the flag and then reads the word. Setting the
 * bit is a locked instruction on x86, which orders what comes behind it. On ARM it is an atomic update without any order,
 * and the flag may be read before the bit is visible: neither side sees the other.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define PENDING 2

static atomic_int word, blocked;
static int kicked, stays_blocked;

static void *notifier(void *unused)
{
    atomic_fetch_or_explicit(&word, PENDING, memory_order_relaxed);
    if (atomic_load_explicit(&blocked, memory_order_relaxed))
        kicked = 1;
    return 0;
}

static void *sleeper(void *unused)
{
    atomic_store_explicit(&blocked, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (!(atomic_load_explicit(&word, memory_order_relaxed) & PENDING))
        stays_blocked = 1;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, notifier, 0);
    pthread_create(&b, 0, sleeper, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(!stays_blocked || kicked);
    return 0;
}
