/* Threads that can never go on, one way each; RIGHT mends it. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t empty;
static atomic_int flag;
static int ready;

static void *one(void *unused)
{
#if WAY == 1 /* two locks in opposite orders */
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
#elif WAY == 2 /* a signal that comes before the wait is lost */
    pthread_mutex_lock(&first);
#ifdef RIGHT
    while (!ready)
#else
    if (1)
#endif
        pthread_cond_wait(&changed, &first);
    pthread_mutex_unlock(&first);
#elif WAY == 3 /* a semaphore that nobody posts */
    sem_wait(&empty);
#elif WAY == 4 /* a flag that nobody sets */
    while (!atomic_load(&flag))
        ;
#elif WAY == 5 /* a lock that is taken twice */
    pthread_mutex_lock(&first);
#ifdef RIGHT
    pthread_mutex_unlock(&first);
#endif
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
#endif
    return unused;
}

static void *two(void *unused)
{
#if WAY == 1
#ifdef RIGHT
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
#else
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
#endif
#elif WAY == 2
    pthread_mutex_lock(&first);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&first);
#elif WAY == 3 && defined RIGHT
    sem_post(&empty);
#elif WAY == 4 && defined RIGHT
    atomic_store(&flag, 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&empty, 0, 0);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
