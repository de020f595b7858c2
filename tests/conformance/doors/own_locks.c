/* Each thread takes and gives back a lock that no other thread uses, KIND, between two accesses of what both use. On x86
 * taking it is a locked instruction; C says that a lock orders what is done under this lock only.
 * ASKED 1: store buffering. 2: message passing. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <threads.h>

#if KIND == 1
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
#define BOTH(n) (pthread_mutex_lock(&locks[n]), pthread_mutex_unlock(&locks[n]))
#elif KIND == 2
static mtx_t locks[2];
#define MAKE(n) mtx_init(&locks[n], mtx_plain)
#define BOTH(n) (mtx_lock(&locks[n]), mtx_unlock(&locks[n]))
#elif KIND == 3
static pthread_rwlock_t locks[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
#define BOTH(n) (pthread_rwlock_wrlock(&locks[n]), pthread_rwlock_unlock(&locks[n]))
#elif KIND == 4
static pthread_rwlock_t locks[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
#define BOTH(n) (pthread_rwlock_rdlock(&locks[n]), pthread_rwlock_unlock(&locks[n]))
#elif KIND == 5
static sem_t locks[2];
#define MAKE(n) sem_init(&locks[n], 0, 1)
#define BOTH(n) (sem_wait(&locks[n]), sem_post(&locks[n]))
#elif KIND == 6
static pthread_spinlock_t locks[2];
#define MAKE(n) pthread_spin_init(&locks[n], 0)
#define BOTH(n) (pthread_spin_lock(&locks[n]), pthread_spin_unlock(&locks[n]))
#elif KIND == 7
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
#define BOTH(n) (pthread_mutex_trylock(&locks[n]) ? 0 : pthread_mutex_unlock(&locks[n]))
#endif

static atomic_int x, y;
static int r, s;
#define SET(v) atomic_store_explicit(&v, 1, memory_order_relaxed)
#define GET(v) atomic_load_explicit(&v, memory_order_relaxed)

static void *one(void *unused)
{
    SET(x);
    BOTH(0);
#if ASKED == 1
    r = GET(y);
#else
    SET(y);
#endif
    return unused;
}

static void *two(void *unused)
{
#if ASKED == 1
    SET(y);
    BOTH(1);
    s = GET(x);
#else
    r = GET(y);
    BOTH(1);
    s = GET(x);
#endif
    return unused;
}

int main(void)
{
#ifdef MAKE
    MAKE(0);
    MAKE(1);
#endif
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
#if ASKED == 1
    assert(r || s);
#else
    assert(!r || s);
#endif
    return 0;
}
