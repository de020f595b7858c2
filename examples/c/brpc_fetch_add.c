/* Two counters that hide from each other, on ARM: brpc, issue 3539.
 *
 * A producer counts a task and then reads how many workers are asleep; a worker counts itself among the sleepers and then
 * reads how many tasks there are. Both count by fetch_add, here with memory_order_release, which on x86 is a locked
 * instruction and so a full fence. C11 and ARM order nothing behind it: the task may wait for ever.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int tasks, sleepers;
static int signalled, sleeps;

static void *producer(void *unused)
{
    atomic_fetch_add_explicit(&tasks, 1, memory_order_release);
    if (atomic_load_explicit(&sleepers, memory_order_relaxed) > 0)
        signalled = 1;
    return 0;
}

static void *worker(void *unused)
{
    atomic_fetch_add_explicit(&sleepers, 1, memory_order_release);
    if (atomic_load_explicit(&tasks, memory_order_relaxed) == 0)
        sleeps = 1;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(!sleeps || signalled);
    return 0;
}
