/* What functions say when they fail: errno, recursive and error-checking mutexes; WRONG says the opposite. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#ifdef WRONG
#define CLAIM(x) assert(!(x))
#else
#define CLAIM(x) assert(x)
#endif

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static sem_t empty;

static void *work(void *unused)
{
#if PART == 1
    CLAIM(sem_trywait(&empty) == -1 && errno == EAGAIN);
#elif PART == 2
    struct timespec soon = {1, 0};
    CLAIM(sem_timedwait(&empty, &soon) == -1 && errno == ETIMEDOUT);
#elif PART == 3
    pthread_mutex_lock(&recursive);
    CLAIM(pthread_mutex_trylock(&recursive) == 0);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
#elif PART == 4
    pthread_mutex_lock(&checking);
    CLAIM(pthread_mutex_lock(&checking) == EDEADLK);
    pthread_mutex_unlock(&checking);
#elif PART == 5
    CLAIM(pthread_mutex_unlock(&checking) == EPERM);
#endif
    return unused;
}

int main(void)
{
    pthread_t a;
    sem_init(&empty, 0, 0);
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
