/* Double-checked initialisation with plain stores. On x86 (TSO) stores stay in order and it works; under PSO the flag
 * may become visible before the object, and one release fence is needed.
 */
#include <assert.h>
#include <pthread.h>

static volatile int ready;
static volatile int object;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int get(void)
{
    if (!ready) {
        pthread_mutex_lock(&mutex);
        if (!ready) {
            object = 42;
            ready = 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    return object;
}

static void *user(void *unused)
{
    assert(get() == 42);
    return 0;
}

int main(void)
{
    pthread_t t[2];
    for (int n = 0; n < 2; n++)
        pthread_create(&t[n], 0, user, 0);
    for (int n = 0; n < 2; n++)
        pthread_join(t[n], 0);
    return 0;
}
