/* A condition variable: the waiter asks again (while) or not (if); the signal is sent with or without the flag set. */
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *waiter(void *unused)
{
    pthread_mutex_lock(&mutex);
    AGAIN (!ready)
#ifdef TIMED
    {
        struct timespec soon = {1, 0};
        pthread_cond_timedwait(&changed, &mutex, &soon);
    }
#else
        pthread_cond_wait(&changed, &mutex);
#endif
    assert(ready);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *signaller(void *unused)
{
    pthread_mutex_lock(&mutex);
    ready = 1;
    SIGNAL;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, waiter, 0);
    pthread_create(&b, 0, signaller, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
