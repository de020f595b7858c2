/* An MCS lock: waiters form a list and each spins on its own node. The loops are unbounded, and so is the proof. To run
   every execution there must be an end to it: -DROUNDS=2. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int locked;
};

static _Atomic(struct node *) tail;
static int inside;

static void lock(struct node *me)
{
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&me->locked, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&tail, me, memory_order_acq_rel);
    if (before) {
        atomic_store_explicit(&before->next, me, memory_order_release);
        while (atomic_load_explicit(&me->locked, memory_order_acquire))
            ;
    }
}

static void unlock(struct node *me)
{
    struct node *next = atomic_load_explicit(&me->next, memory_order_acquire);
    if (!next) {
        struct node *expected = me;
        if (atomic_compare_exchange_strong_explicit(&tail, &expected, NULL, memory_order_release,
                                                    memory_order_relaxed))
            return;
        while (!(next = atomic_load_explicit(&me->next, memory_order_acquire)))
            ;
    }
    atomic_store_explicit(&next->locked, 0, memory_order_release);
}

static void *work(void *unused)
{
    struct node me;
#ifdef ROUNDS
    for (int round = 0; round < ROUNDS; round++) {
#else
    for (;;) {
#endif
        lock(&me);
        int before = inside;
        inside = 1;
        assert(before == 0);
        inside = 0;
        unlock(&me);
    }
    return 0;
}

int main(void)
{
    pthread_t t[2];
    for (int n = 0; n < 2; n++)
        pthread_create(&t[n], 0, work, 0);
    for (int n = 0; n < 2; n++)
        pthread_join(t[n], 0);
    return 0;
}
