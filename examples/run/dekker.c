/* Dekker's mutual exclusion, two threads, SECTIONS critical sections each, written from scratch. With -DFENCED: store-buffer
 * safe. */
#include "fence.h"

#include <assert.h>
#include <pthread.h>

#ifndef SECTIONS
#define SECTIONS 2
#endif

static volatile int wants[2], turn, inside;

static void *worker(void *number)
{
    const long me = (long)number, other = 1 - me;
    for (int i = 0; i < SECTIONS; i++) {
        wants[me] = 1;
        FENCE;
        while (wants[other]) {
            if (turn != me) {
                wants[me] = 0;
                FENCE;
                while (turn != me)
                    ;
                wants[me] = 1;
                FENCE;
            }
        }
        assert(inside == 0);
        inside = 1;
        inside = 0;
        turn = other;
        wants[me] = 0;
    }
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, (void *)0);
    pthread_create(&b, 0, worker, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
