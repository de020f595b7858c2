/* Whom a thread may wait for: another one, and none that was detached. To join once more is no error. */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_t first;
static atomic_int begun;

static void *work(void *unused)
{
    atomic_store(&begun, 1);
#if KIND == 1
    pthread_join(pthread_self(), 0);
#elif KIND == 2
    pthread_detach(pthread_self());
#endif
    return unused;
}

static void *joiner(void *unused)
{
    pthread_join(first, 0);
    return unused;
}

int main(void)
{
    pthread_t t;
#if KIND == 3
    pthread_join(pthread_self(), 0);
#elif KIND == 4
    pthread_join(first, 0);
#elif KIND == 5
    pthread_create(&first, 0, work, 0);
    pthread_create(&t, 0, joiner, 0);
    pthread_join(t, 0);
#elif KIND == 6 /* once is enough */
    pthread_create(&first, 0, work, 0);
    pthread_create(&t, 0, joiner, 0);
    pthread_join(first, 0);
    pthread_join(t, 0);
#elif KIND == 7 /* its number may not be there yet */
    pthread_create(&t, 0, joiner, 0);
    pthread_create(&first, 0, work, 0);
    pthread_join(t, 0);
#else
    pthread_create(&t, 0, work, 0);
#if KIND == 8
    pthread_join(t, 0);
    pthread_join(t, 0);
#elif KIND == 9
    pthread_detach(t);
    pthread_join(t, 0);
#elif KIND == 10
    pthread_join(t, 0);
    pthread_detach(t);
#elif KIND == 11
    pthread_detach(t);
    pthread_detach(t);
#elif KIND == 12
    pthread_detach(t);
#elif KIND == 13
    assert(!pthread_equal(t, pthread_self()) && !pthread_equal(0, pthread_self()));
    pthread_join(t, 0);
#elif KIND == 14
    intmax_t least = atomic_load(&begun) ? INTMAX_MIN : 1;
    assert(imaxabs(least) > 0);
    pthread_join(t, 0);
#else
    pthread_join(t, 0);
#endif
#endif
    return 0;
}
