/* In place of libc's functions, where calls are made one after the other: what would have to wait for another thread
 * waits for ever, since no other thread is in a call. The process ends with a status that says so. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

enum { stuck_status = 77 };

static int stuck(void)
{
    _exit(stuck_status);
    return 0;
}

static int or_stuck(int tried) { return tried == EBUSY ? stuck() : tried; }

int pthread_mutex_lock(pthread_mutex_t *mutex) { return or_stuck(pthread_mutex_trylock(mutex)); }
int pthread_spin_lock(pthread_spinlock_t *lock) { return or_stuck(pthread_spin_trylock(lock)); }
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) { return or_stuck(pthread_rwlock_tryrdlock(lock)); }
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) { return or_stuck(pthread_rwlock_trywrlock(lock)); }
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) { return stuck(); }
int pthread_barrier_wait(pthread_barrier_t *barrier) { return stuck(); }

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    return ETIMEDOUT;
}

int sem_wait(sem_t *semaphore)
{
    if (sem_trywait(semaphore) == 0)
        return 0;
    return errno == EAGAIN ? stuck() : -1;
}
