/* Parts of pthreads one by one: each PART holds; with BROKEN it fails. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t full;
static atomic_int arrived, entered;
static int made, data, places[2];
static __thread int own;

static void make(void) { made = made + 1; }

static void *work(void *argument)
{
    int number = argument != 0;
    (void)number;
#if PART == 1 /* everybody has arrived behind a barrier */
    atomic_fetch_add(&arrived, 1);
#ifndef BROKEN
    pthread_barrier_wait(&barrier);
#endif
    assert(atomic_load(&arrived) == 2);
#elif PART == 2 /* once is once */
#ifndef BROKEN
    pthread_once(&once, make);
#else
    if (!atomic_exchange(&entered, 1))
        made = 1;
#endif
    assert(*(volatile int *)&made == 1);
#elif PART == 3 /* values of a key belong to a thread */
    pthread_setspecific(key, argument);
#ifdef BROKEN
    pthread_setspecific(key, &data);
#endif
    assert(pthread_getspecific(key) == argument);
#elif PART == 4 /* thread-local variables too */
    own = number + 1;
    sched_yield();
#ifdef BROKEN
    assert(own == 1);
#else
    assert(own == number + 1);
#endif
#elif PART == 5 /* writers exclude readers */
    if (number) {
        pthread_rwlock_wrlock(&rwlock);
        places[0] = 1;
        places[1] = 1;
        pthread_rwlock_unlock(&rwlock);
    } else {
#ifndef BROKEN
        pthread_rwlock_rdlock(&rwlock);
#endif
        assert(places[0] == places[1]);
#ifndef BROKEN
        pthread_rwlock_unlock(&rwlock);
#endif
    }
#elif PART == 6 /* a semaphore hands over */
    if (number) {
        data = 5;
        sem_post(&full);
    } else {
#ifndef BROKEN
        sem_wait(&full);
#else
        sem_trywait(&full);
#endif
        assert(data == 5);
    }
#elif PART == 7 /* trylock tells whether */
#ifndef BROKEN
    if (pthread_mutex_trylock(&mutex) == 0) {
#else
    if (pthread_mutex_trylock(&mutex) || 1) {
#endif
        assert(atomic_fetch_add(&entered, 1) == 0);
        atomic_fetch_sub(&entered, 1);
#ifndef BROKEN
        pthread_mutex_unlock(&mutex);
#endif
    }
#elif PART == 8 /* the result of a thread */
    pthread_exit(argument);
#elif PART == 9 /* readers do not exclude each other, but a spin lock does */
    pthread_spin_lock(&spin);
    assert(atomic_fetch_add(&entered, 1) == 0);
#ifdef BROKEN
    pthread_spin_unlock(&spin);
#endif
    atomic_fetch_sub(&entered, 1);
#ifndef BROKEN
    pthread_spin_unlock(&spin);
#endif
#endif
    return argument;
}

int main(void)
{
    pthread_t a, b;
    void *first = &data, *second = 0;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_key_create(&key, 0);
    pthread_spin_init(&spin, 0);
    sem_init(&full, 0, 0);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, &made);
    pthread_join(a, &first);
    pthread_join(b, &second);
#if PART == 8 && defined BROKEN
    assert(first == second);
#else
    assert(first == 0 && second == &made);
#endif
    return 0;
}
