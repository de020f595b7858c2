/* A lock of Concurrency Kit around a counter: KIND is one of fas, cas, dec, ticket. */
#include <assert.h>
#include <pthread.h>

#include <ck_spinlock.h>

#define PASTE(a, b, c) a##b##c
#define NAME(kind, what) PASTE(ck_spinlock_, kind, what)

static NAME(KIND, _t) lock;
static int counter;

static void *increment(void *unused)
{
    NAME(KIND, _lock)(&lock);
    counter = counter + 1;
    NAME(KIND, _unlock)(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    NAME(KIND, _init)(&lock);
    pthread_create(&one, 0, increment, 0);
    pthread_create(&two, 0, increment, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(counter == 2);
    return 0;
}
