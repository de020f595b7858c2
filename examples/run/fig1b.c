/* Store buffering, the program of Fig. 1(b) of the Sober paper. With -DFENCED: with its two fences. */
#include "fence.h"

#include <pthread.h>

static volatile int x, y, seen_by_one, seen_by_two;

static void *one(void *unused)
{
    x = 1;
    FENCE;
    seen_by_one = y;
    return 0;
}

static void *two(void *unused)
{
    y = 1;
    FENCE;
    seen_by_two = x;
    return 0;
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
