/* THREADS threads, each once in a critical section. HEADER, SHARED, START, LOCAL, ENTER and LEAVE are the lock's. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include HEADER

#ifndef THREADS
#define THREADS 2
#endif
SHARED
static int inside, count;

static void *work(void *argument)
{
    long me = (long)argument;
    (void)me;
    LOCAL
    ENTER;
    inside++;
    assert(inside == 1);
    count++;
    inside--;
    LEAVE;
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    START;
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    assert(count == THREADS);
    return 0;
}
