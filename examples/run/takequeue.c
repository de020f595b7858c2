/* A take-queue: its owner pushes and pops at the tail without a lock, as long as the queue is not nearly empty; another
 * thread takes from the head under a lock (the THE protocol). In the spirit of the queue of the Sober paper, written from
 * scratch. With -DFENCED: store-buffer safe. */
#include "fence.h"

#include <assert.h>
#include <pthread.h>

static volatile int head = 1, tail = 1; /* head <= position < tail are in the queue */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int got[4];

static void take(int position)
{
    assert(!__atomic_exchange_n(&got[position], 1, __ATOMIC_SEQ_CST));
}

static void pop(int *t)
{
    tail = --*t;
    FENCE;
    if (head <= *t) {
        take(*t);
        return;
    }
    tail = ++*t; /* nearly empty: a taker may be after the same item */
    pthread_mutex_lock(&lock);
    tail = --*t;
    if (head <= *t)
        take(*t);
    else
        tail = ++*t;
    pthread_mutex_unlock(&lock);
}

static void *owner(void *unused)
{
    int t = 1;
    tail = ++t;
    tail = ++t;
    pop(&t);
    pop(&t);
    return 0;
}

static void *taker(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        const int h = head;
        head = h + 1;
        FENCE;
        if (h < tail)
            take(h);
        else
            head = h;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, owner, 0);
    pthread_create(&b, 0, taker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
