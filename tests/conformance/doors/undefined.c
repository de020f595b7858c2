/* Arithmetic that C does not define, where the first thread was quicker; RIGHT stays within what is defined. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;
static volatile int most = INT_MAX, least = INT_MIN, minus = -1, width = 32, sink;
static volatile long longest = LONG_MAX;
static volatile unsigned all = UINT_MAX;

static void *one(void *unused)
{
    atomic_store(&flag, 1);
    return unused;
}

static void *two(void *unused)
{
    int seen = atomic_load(&flag);
#ifdef RIGHT
    seen = 0;
#endif
#if KIND == 1
    sink = most + seen;
#elif KIND == 2
    sink = least - seen;
#elif KIND == 3
    sink = least / (seen ? minus : 1);
#elif KIND == 4
    sink = 1 << (seen ? width : 1);
#elif KIND == 5
    sink = (seen ? minus : 1) << 1;
#elif KIND == 6
    sink = most * (1 + seen);
#elif KIND == 7
    sink = 7 % (1 - seen);
#elif KIND == 8
    sink = (longest + seen) != 0;
#elif KIND == 9 /* unsigned numbers wrap: always right */
    sink = all + 1 != 0;
#elif KIND == 10
    sink = seen ? -least : 0;
#elif KIND == 11
    sink = 1 >> (seen ? minus : 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
