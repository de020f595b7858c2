/* A ticket lock whose tickets wrap around at SIZE, for any number of threads.
 *
 * At most SIZE tickets may be out, or two threads hold the same one: a thread that finds none left goes away. With
 * UNLIMITED nobody counts them, and SIZE + 1 threads break the lock. With BROKEN, to draw a ticket is two steps.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SIZE 2

static atomic_int out, next, serving;
static int inside;

static int draw(void)
{
#ifdef BROKEN
    int ticket = atomic_load(&next);
    atomic_store(&next, (ticket + 1) % SIZE);
    return ticket;
#else
    int ticket = atomic_load(&next);
    while (!atomic_compare_exchange_strong(&next, &ticket, (ticket + 1) % SIZE))
        ;
    return ticket;
#endif
}

static int may_draw(void)
{
#ifdef UNLIMITED
    return 1;
#else
    int others = atomic_load(&out);
    while (others < SIZE)
        if (atomic_compare_exchange_strong(&out, &others, others + 1))
            return 1;
    return 0;
#endif
}

static void *worker(void *unused)
{
    if (!may_draw())
        return 0;
    int ticket = draw();
    while (atomic_load_explicit(&serving, memory_order_acquire) != ticket)
        ;
    assert(!inside);
    inside = 1;
    inside = 0;
    atomic_store_explicit(&serving, (ticket + 1) % SIZE, memory_order_release);
#ifndef UNLIMITED
    atomic_fetch_sub(&out, 1);
#endif
    return 0;
}

int main(void)
{
    pthread_t thread;
    for (;;)
        pthread_create(&thread, 0, worker, 0);
}
