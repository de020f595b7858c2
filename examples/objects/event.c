/* Wait until somebody has notified. -D TEST_OUTSIDE looks before it takes the lock, and may sleep for ever.
 *
 * memfence-test event
 * waiter   wait()   : wait_for_it()
 * notifier notify() : notify()
 * clients  1 waiter x 1, 1 notifier x 1
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t happened = PTHREAD_COND_INITIALIZER;
static atomic_int has_happened;

static void wait_for_it(void)
{
#ifdef TEST_OUTSIDE
    if (has_happened)
        return;
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&happened, &lock);
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_lock(&lock);
    while (!has_happened)
        pthread_cond_wait(&happened, &lock);
    pthread_mutex_unlock(&lock);
#endif
}

static void notify(void)
{
    pthread_mutex_lock(&lock);
    has_happened = 1;
    pthread_cond_broadcast(&happened);
    pthread_mutex_unlock(&lock);
}
