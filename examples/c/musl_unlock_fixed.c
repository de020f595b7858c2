/* The control to musl_unlock.c: the unlock is an exchange, which x86 performs as a locked instruction. It holds. */
#include <pthread.h>

static int lock = 1;
static int waiters;
static pthread_mutex_t kernel = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue = PTHREAD_COND_INITIALIZER;

static void *unlocker(void *unused)
{
    __atomic_exchange_n(&lock, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&waiters, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&kernel);
        pthread_cond_signal(&queue);
        pthread_mutex_unlock(&kernel);
    }
    return 0;
}

static void *waiter(void *unused)
{
    __atomic_fetch_add(&waiters, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&lock, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&kernel);
        if (__atomic_load_n(&lock, __ATOMIC_RELAXED))
            pthread_cond_wait(&queue, &kernel);
        pthread_mutex_unlock(&kernel);
    }
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, unlocker, 0);
    pthread_create(&b, 0, waiter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
