/* Store buffering with a library call between the store and the load. On x86 only a call that has a locked instruction
   there keeps the two in order: one that takes or gives back. ASKED: another thread uses the objects as well. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#define RECURSIVE (CALL >= 3 && CALL <= 6)
#define ERROR_CHECKING (CALL == 7 || CALL == 8)
#define MUTEX (CALL >= 3 && CALL <= 10)
#define SPIN_LOCK (CALL == 11 || CALL == 12)
#define READ_WRITE_LOCK (CALL >= 13 && CALL <= 15)

static atomic_int x, y;
static int r0 = -1, r1 = -1, is_over;
static pthread_mutex_t mutex[2], lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_rwlock_t rwlock[2];
static pthread_spinlock_t spin[2];
static sem_t semaphore[2];

static void nothing(void) {}

static void prepare(int me)
{
#if CALL == 6
    pthread_mutex_lock(&mutex[me]);
#endif
#if MUTEX
    pthread_mutex_lock(&mutex[me]);
#elif SPIN_LOCK
    pthread_spin_lock(&spin[me]);
#elif READ_WRITE_LOCK
    pthread_rwlock_wrlock(&rwlock[me]);
#endif
}

static void call(int me)
{
#if CALL == 1 /* of 0 */
    sem_trywait(&semaphore[me]);
#elif CALL == 2
    int value;
    sem_getvalue(&semaphore[me], &value);
#elif CALL == 3 /* once more */
    pthread_mutex_lock(&mutex[me]);
#elif CALL == 4
    pthread_mutex_lock(&mutex[me]);
    pthread_mutex_unlock(&mutex[me]);
#elif CALL == 5
    pthread_mutex_trylock(&mutex[me]);
#elif CALL == 6 /* one of two */
    pthread_mutex_unlock(&mutex[me]);
#elif CALL == 7 /* EDEADLK */
    pthread_mutex_lock(&mutex[me]);
#elif CALL == 8 /* EPERM */
    pthread_mutex_unlock(&mutex[!me]);
#elif CALL == 9
    pthread_mutex_unlock(&mutex[me]);
#elif CALL == 10 /* EBUSY, from a locked instruction */
    pthread_mutex_trylock(&mutex[me]);
#elif CALL == 11 /* the same */
    pthread_spin_trylock(&spin[me]);
#elif CALL == 12
    pthread_spin_unlock(&spin[me]);
#elif CALL == 13
    pthread_rwlock_tryrdlock(&rwlock[me]);
#elif CALL == 14
    pthread_rwlock_trywrlock(&rwlock[me]);
#elif CALL == 15
    pthread_rwlock_unlock(&rwlock[me]);
#elif CALL == 16 /* nobody waits, or may be waiting */
    pthread_cond_signal(&condition[ASKED ? 0 : me]);
#elif CALL == 17
    pthread_cond_broadcast(&condition[ASKED ? 0 : me]);
#elif CALL == 18 /* it has run */
    pthread_once(&once, nothing);
#elif CALL == 19
    sem_post(&semaphore[me]);
#elif CALL == 20 /* it is free */
    pthread_rwlock_tryrdlock(&rwlock[me]);
#endif
}

static void *first(void *unused)
{
    prepare(0);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    call(0);
    r0 = atomic_load_explicit(&y, memory_order_relaxed);
#if ASKED && (CALL == 16 || CALL == 17)
    pthread_mutex_lock(&lock);
    is_over = 1;
    pthread_cond_signal(&condition[0]);
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *second(void *unused)
{
    prepare(1);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    call(1);
    r1 = atomic_load_explicit(&x, memory_order_relaxed);
    return unused;
}

static void ask(int one)
{
    (void)one;
#if CALL == 1
    sem_post(&semaphore[one]);
#elif CALL == 16 || CALL == 17
    pthread_mutex_lock(&lock);
    while (!is_over)
        pthread_cond_wait(&condition[0], &lock);
    pthread_mutex_unlock(&lock);
#elif MUTEX
    if (pthread_mutex_trylock(&mutex[one]) == 0)
        pthread_mutex_unlock(&mutex[one]);
#elif READ_WRITE_LOCK
    if (pthread_rwlock_trywrlock(&rwlock[one]) == 0)
        pthread_rwlock_unlock(&rwlock[one]);
#endif
}

int main(void)
{
    pthread_t a, b;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
#if RECURSIVE
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
#elif ERROR_CHECKING
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
#else
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL);
#endif
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&mutex[i], &kind);
        pthread_cond_init(&condition[i], 0);
        pthread_rwlock_init(&rwlock[i], 0);
        pthread_spin_init(&spin[i], 0);
        sem_init(&semaphore[i], 0, 0);
    }
    pthread_once(&once, nothing);
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    if (ASKED) {
        ask(0);
        ask(1);
    }
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(r0 || r1);
    return 0;
}
