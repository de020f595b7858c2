/* Everything of pthreads that excludes: KIND takes, GIVE gives back; a plain counter is the witness. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static int counter;

static void *work(void *unused)
{
    struct timespec soon = {1, 0};
    (void)soon;
    TAKE;
    counter++;
    GIVE;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 1);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(counter == 2 || EXCUSE);
    return 0;
}
