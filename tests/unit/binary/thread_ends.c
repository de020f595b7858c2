/* What runs when a thread ends. Each WAY holds; with WRONG it fails. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>

#ifdef WRONG
enum { wrong = 1 };
#else
enum { wrong = 0 };
#endif

static pthread_key_t key;
static tss_t other_key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ended, steps[2];
static int value;

static void count(void *argument)
{
    assert(argument == &value);
    atomic_fetch_add(&ended, 1);
}

static void count_again(void *argument)
{
    count(argument);
    if (atomic_load(&ended) < 3)
        pthread_setspecific(key, argument);
}

static void unlock(void *argument) { pthread_mutex_unlock(argument); }
static void first(void *unused) { atomic_store(&steps[0], atomic_fetch_add(&ended, 1) + 1); }
static void second(void *unused) { atomic_store(&steps[1], atomic_fetch_add(&ended, 1) + 1); }

static void leave(void) { pthread_exit(0); }

static void *work(void *unused)
{
#if WAY == 1 || WAY == 2 /* destructors of keys */
    pthread_setspecific(key, &value);
#elif WAY == 3 /* keys without a value, or deleted, have none */
    pthread_setspecific(key, &value);
    pthread_setspecific(key, 0);
#elif WAY == 4 /* handlers run, the last one first */
    pthread_cleanup_push(first, 0);
    pthread_cleanup_push(second, 0);
    leave();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
#elif WAY == 5 /* one of them lets a mutex go */
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
#ifdef WRONG
    pthread_cleanup_pop(0);
    pthread_exit(0);
#else
    pthread_exit(0);
    pthread_cleanup_pop(0);
#endif
#elif WAY == 6 /* popped ones run if asked to */
    pthread_cleanup_push(first, 0);
    pthread_cleanup_pop(1);
    pthread_cleanup_push(second, 0);
    pthread_cleanup_pop(0);
    pthread_exit(0);
#elif WAY == 8 /* `main` ends, and the process does not */
    atomic_store(&ended, 1);
    assert(!wrong);
#endif
    return 0;
}

static int tss_work(void *unused)
{
    tss_set(other_key, &value);
    thrd_exit(3);
}

int main(void)
{
    pthread_t t;
#if WAY == 7
    thrd_t c;
    int result;
    tss_create(&other_key, count);
    thrd_create(&c, tss_work, 0);
    thrd_join(c, &result);
    assert(result == 3 && atomic_load(&ended) == 1 - wrong);
    return 0;
#endif
    pthread_key_create(&key, WAY == 2 ? count_again : count);
    pthread_create(&t, 0, work, 0);
#if WAY == 8
    pthread_exit(0);
#endif
    pthread_join(t, 0);
#if WAY == 1
    assert(atomic_load(&ended) == 1 - wrong);
#elif WAY == 2
    assert(atomic_load(&ended) == 3 - wrong);
#elif WAY == 3
    assert(atomic_load(&ended) == wrong);
#elif WAY == 4
    assert(atomic_load(&steps[0]) == 2 - wrong && atomic_load(&steps[1]) == 1 + wrong);
#elif WAY == 5
    pthread_mutex_lock(&mutex);
#elif WAY == 6
    assert(atomic_load(&steps[0]) == 1 && atomic_load(&steps[1]) == wrong);
#endif
    return 0;
}
