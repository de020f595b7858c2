/* Concurrency Kit, ck_spinlock_hclh_lock(): a hierarchical CLH lock. A thread whose predecessor is of its own cluster
   waits for that one alone, and returns early; only the other way out has the fence (ck_pr_fence_lock) that keeps the
   critical section behind the wait. x86 keeps loads in order. C11 and ARM do not: the early return lets the thread read
   what is older than the last critical section. Both threads are of one cluster here; what splices clusters is left out. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    atomic_int wait;
    struct node *previous;
};

static struct node unowned;
static _Atomic(struct node *) queue = &unowned;
static int counter;

static void lock(struct node *me)
{
    atomic_store_explicit(&me->wait, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    struct node *previous = atomic_exchange_explicit(&queue, me, memory_order_relaxed);
    me->previous = previous;
    atomic_thread_fence(memory_order_acquire);
    if (previous != &unowned) {
        while (atomic_load_explicit(&previous->wait, memory_order_relaxed))
            ;
        return;
    }
    atomic_thread_fence(memory_order_acquire);
}

static void unlock(struct node *me)
{
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&me->wait, 0, memory_order_relaxed);
}

static struct node nodes[2];

static void *work(void *node)
{
    lock(node);
    counter++;
    unlock(node);
    return 0;
}

int main(void)
{
    pthread_t t[2];
    for (int n = 0; n < 2; n++)
        pthread_create(&t[n], 0, work, &nodes[n]);
    for (int n = 0; n < 2; n++)
        pthread_join(t[n], 0);
    assert(counter == 2);
    return 0;
}
