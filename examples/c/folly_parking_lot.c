/* A parked thread that is forgotten: folly, commit ff7ab9dbe (ParkingLot).
 *
 * Parking: count yourself in the bucket, and sleep if the word still has the old value. Unparking: the caller has just
 * changed the word; if the bucket's count is 0 there is nobody to wake. The count is read without the bucket's lock, so
 * that nothing orders it after the caller's store. A fence before the read does.
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int word;
static atomic_int count;
static pthread_mutex_t bucket = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t parked = PTHREAD_COND_INITIALIZER;

static void *unparker(void *unused)
{
    atomic_store_explicit(&word, 1, memory_order_release);
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0)
        return 0;
    pthread_mutex_lock(&bucket);
    pthread_cond_signal(&parked);
    pthread_mutex_unlock(&bucket);
    return 0;
}

static void *parker(void *unused)
{
    atomic_fetch_add(&count, 1);
    pthread_mutex_lock(&bucket);
    if (atomic_load_explicit(&word, memory_order_acquire) == 0)
        pthread_cond_wait(&parked, &bucket);
    pthread_mutex_unlock(&bucket);
    atomic_fetch_sub(&count, 1);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, unparker, 0);
    pthread_create(&b, 0, parker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
