/* Threads that begin after others were joined, when `main` has been alone again. Each WAY fails; with RIGHT it holds. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
#ifdef RIGHT
enum { wrong = 0 };
#else
enum { wrong = 1 };
#endif

static void *nothing(void *unused) { return unused; }

static void *count(void *unused)
{
    atomic_fetch_add(&x, 1);
    return unused;
}

static void *count_in_two_steps(void *unused)
{
#ifdef RIGHT
    atomic_fetch_add(&x, 1);
#else
    int old = atomic_load(&x);
    atomic_store(&x, old + 1);
#endif
    return unused;
}

static void *set(void *unused)
{
    atomic_store(&x, 1);
    return unused;
}

static void once(void *(*work)(void *))
{
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
}

static void twice_at_once(void *(*work)(void *))
{
    pthread_t t, u;
    pthread_create(&t, 0, work, 0);
    pthread_create(&u, 0, work, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}

static void *two_phases(void *unused)
{
    once(count);
    twice_at_once(count_in_two_steps);
    return unused;
}

int main(void)
{
#if WAY == 1 /* one after the other */
    for (int i = 0; i < 3; i++)
        once(count);
    assert(atomic_load(&x) == 3 - wrong);
#elif WAY == 2 /* one, then two at once */
    once(nothing);
    twice_at_once(count_in_two_steps);
    assert(atomic_load(&x) == 2);
#elif WAY == 3 /* nobody waits for the second one */
    pthread_t t;
    once(nothing);
    pthread_create(&t, 0, set, 0);
    pthread_detach(t);
    assert(!wrong || atomic_load(&x) == 0);
#elif WAY == 4 /* two at once, two phases of them */
    twice_at_once(count_in_two_steps);
    assert(atomic_load(&x) >= 1);
    twice_at_once(count_in_two_steps);
    assert(atomic_load(&x) == 4);
#elif WAY == 5 /* phases within a thread that is itself the second */
    once(nothing);
    once(two_phases);
    assert(atomic_load(&x) == 3);
#elif WAY == 6 /* what may fail without a reason, before anybody is there */
    int expected = 0;
    pthread_t t;
    while (!atomic_compare_exchange_weak(&y, &expected, 1))
        expected = 0;
    pthread_create(&t, 0, set, 0);
    assert(!wrong || atomic_load(&x) == 0);
    pthread_join(t, 0);
    assert(atomic_load(&x) == 1);
#endif
    return 0;
}
