/* A lost wake-up in a futex lock: musl, commit 3c43c076 ("fix deadlock race in pthread_once / unlock": a_store).
 *
 * Unlocking stores 0 into the lock and then looks whether somebody waits; a waiter counts itself with a locked
 * instruction and then asks the kernel to sleep if the lock is still taken. On x86 the store may still be in the store
 * buffer when the number of waiters is read: the waiter sees a taken lock, the unlocker sees no waiter, and nobody ever
 * wakes it. musl made a_store a locked operation; one fence between the two lines does the same.
 */
#include <pthread.h>

static volatile int lock = 1; /* taken by the unlocker at the start */
static int waiters;

/* The kernel's side: sleep only if the lock still has the value; a wake reaches whoever sleeps. */
static pthread_mutex_t kernel = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue = PTHREAD_COND_INITIALIZER;

static void futex_wait(volatile int *address, int value)
{
    pthread_mutex_lock(&kernel);
    if (*address == value)
        pthread_cond_wait(&queue, &kernel);
    pthread_mutex_unlock(&kernel);
}

static void futex_wake(void)
{
    pthread_mutex_lock(&kernel);
    pthread_cond_signal(&queue);
    pthread_mutex_unlock(&kernel);
}

static void *unlocker(void *unused)
{
    lock = 0;
    if (__atomic_load_n(&waiters, __ATOMIC_RELAXED))
        futex_wake();
    return 0;
}

static void *waiter(void *unused)
{
    __atomic_fetch_add(&waiters, 1, __ATOMIC_SEQ_CST);
    while (lock)
        futex_wait(&lock, 1);
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
