/* A waiter that nobody wakes, on ARM: oneTBB, issue 2136 (unlock of a mutex that threads sleep on).
 *
 * The owner unlocks by an exchange and then reads, relaxed, whether somebody waits. A waiter counts itself and then reads
 * whether the mutex is still locked. On x86 both locked instructions are full fences. On ARM an exchange may be a pair of
 * exclusive instructions, and the load behind it may overtake its store: both threads read the old values.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int locked = 1;
static atomic_int waiters;
static int sleeps, woken;

static void *owner(void *unused)
{
    atomic_exchange(&locked, 0);
    if (atomic_load_explicit(&waiters, memory_order_relaxed))
        woken = 1;
    return 0;
}

static void *waiter(void *unused)
{
    atomic_fetch_add(&waiters, 1);
    if (atomic_load_explicit(&locked, memory_order_relaxed))
        sleeps = 1;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, owner, 0);
    pthread_create(&b, 0, waiter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(!sleeps || woken);
    return 0;
}
