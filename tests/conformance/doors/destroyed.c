/* A lock that was destroyed is used; RIGHT destroys it when nobody uses it any more. */
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock;
static pthread_spinlock_t spin;
static pthread_cond_t changed;
static pthread_barrier_t barrier;
static sem_t semaphore;

static void *work(void *unused)
{
#if KIND == 1
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
#elif KIND == 2
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
#elif KIND == 3
    pthread_cond_signal(&changed);
#elif KIND == 4
    sem_post(&semaphore);
#elif KIND == 5
    pthread_mutex_trylock(&mutex);
#endif
    return unused;
}

int main(void)
{
    pthread_t a;
    pthread_mutex_init(&mutex, 0);
    pthread_rwlock_init(&rwlock, 0);
    pthread_spin_init(&spin, 0);
    pthread_cond_init(&changed, 0);
    pthread_barrier_init(&barrier, 0, 1);
    sem_init(&semaphore, 0, 1);
    pthread_create(&a, 0, work, 0);
#ifdef RIGHT
    pthread_join(a, 0);
#endif
#if KIND == 1
    pthread_mutex_destroy(&mutex);
#elif KIND == 2
    pthread_rwlock_destroy(&rwlock);
#elif KIND == 3
    pthread_cond_destroy(&changed);
#elif KIND == 4
    sem_destroy(&semaphore);
#elif KIND == 5 && !defined RIGHT
    pthread_mutex_destroy(&mutex);
#endif
#ifndef RIGHT
    pthread_join(a, 0);
#endif
    return 0;
}
