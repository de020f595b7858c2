/* A writer keeps two variables alike, a reader looks at both. WRITE_ENTER and so on are those of a read-write lock; with
 * RETRY the reader reads again as long as it says so, and both variables are atomic. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include HEADER

SHARED
#ifdef RETRY
static atomic_int x, y;
#define SET(v, n) atomic_store_explicit(&v, n, memory_order_relaxed)
#define GET(v) atomic_load_explicit(&v, memory_order_relaxed)
#else
static int x, y;
#define SET(v, n) (v = (n))
#define GET(v) (v)
#endif

static void *writer(void *unused)
{
    WRITE_ENTER;
    SET(x, 1);
    SET(y, 1);
    WRITE_LEAVE;
    return unused;
}

static void *reader(void *unused)
{
    int a, b;
#ifdef RETRY
    unsigned version;
    do {
        version = READ_ENTER;
        a = GET(x);
        b = GET(y);
    } while (RETRY);
#else
    LOCAL
    READ_ENTER;
    a = GET(x);
    b = GET(y);
    READ_LEAVE;
#endif
    assert(a == b);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    START;
    pthread_create(&one, 0, writer, 0);
    pthread_create(&two, 0, reader, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
