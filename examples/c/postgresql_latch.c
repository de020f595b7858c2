/* A latch that is not set: PostgreSQL, commit 14e8803f101 ("Add barriers to the latch code").
 *
 * SetLatch: the caller has written its request; if the latch is set already, there is nothing to do. ResetLatch: clear
 * the latch, then look for requests. Both are a store followed by a load of something else. If both loads overtake, the
 * request is not seen and the latch stays clear: the process sleeps beside its work.
 */
#include <assert.h>
#include <pthread.h>

static volatile int is_set = 1;
static volatile int request;
static int seen, set_again;

static void *set_latch(void *unused)
{
    request = 1;
    if (is_set)
        return 0;
    set_again = 1;
    return 0;
}

static void *wait_loop(void *unused)
{
    is_set = 0;
    if (request)
        seen = 1;
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, set_latch, 0);
    pthread_create(&b, 0, wait_loop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(seen || set_again);
    return 0;
}
