/* A ticket lock: take a number with a locked increment, wait until it is called. The unlock is a plain store on x86. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint next_ticket, now_serving;
static int shared;

static void *work(void *unused)
{
    for (int round = 0; round < 2; round++) {
        unsigned ticket = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
        while (atomic_load_explicit(&now_serving, memory_order_acquire) != ticket)
            ;
        int seen = shared;
        shared = seen + 1;
        assert(shared == seen + 1);
        atomic_store_explicit(&now_serving, ticket + 1, memory_order_release);
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
    assert(shared == 4);
    return 0;
}
