/* Store buffering; where both threads miss each other, the program ends by HOW, called from WHERE. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int x, y, r, s;
static volatile int zero;
static int *nowhere;

static void end(void)
{
#if HOW == 1
    assert(!"both missed");
#elif HOW == 2
    abort();
#elif HOW == 3
    exit(1);
#elif HOW == 4
    _exit(3);
#elif HOW == 5
    _Exit(2);
#elif HOW == 6
    quick_exit(1);
#elif HOW == 7
    raise(SIGABRT);
#elif HOW == 8
    __builtin_trap();
#elif HOW == 9
    *(volatile int *)nowhere = 1;
#elif HOW == 10
    zero = 7 / zero;
#elif HOW == 11
    exit(0);
#elif HOW == 12
    _exit(0);
#endif
}

static void *one(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&r, 1 + atomic_load_explicit(&y, memory_order_relaxed), memory_order_relaxed);
    return unused;
}

static void *two(void *unused)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_store_explicit(&s, 1 + atomic_load_explicit(&x, memory_order_relaxed), memory_order_relaxed);
    return unused;
}

static int is_bad(void) { return atomic_load(&r) == 1 && atomic_load(&s) == 1; }

static void *judge(void *unused)
{
    if (is_bad())
        end();
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
#if WHERE == 1
    pthread_create(&a, 0, judge, 0);
    pthread_join(a, 0);
#else
    judge(0);
#endif
#if HOW == 13
    return is_bad() ? 1 : 0;
#elif HOW == 14
    return is_bad() ? 256 : 0;
#else
    return 0;
#endif
}
