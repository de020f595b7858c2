/* Lamport's bakery, two threads, SECTIONS critical sections each, written from scratch. With -DFENCED: store-buffer safe. */
#include "fence.h"

#include <assert.h>
#include <pthread.h>

#ifndef SECTIONS
#define SECTIONS 2
#endif

static volatile int choosing[2], ticket[2], inside;

static void *worker(void *number)
{
    const long me = (long)number, other = 1 - me;
    for (int i = 0; i < SECTIONS; i++) {
        choosing[me] = 1;
        FENCE;
        const int mine = ticket[other] + 1;
        ticket[me] = mine;
        choosing[me] = 0;
        FENCE;
        while (choosing[other])
            ;
        for (;;) {
            const int theirs = ticket[other];
            if (theirs == 0 || theirs > mine || (theirs == mine && other > me))
                break;
        }
        assert(inside == 0);
        inside = 1;
        inside = 0;
        ticket[me] = 0;
        FENCE;
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
