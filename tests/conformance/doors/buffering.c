/* Store buffering with an optional fence of order FENCE between store and load, which have order ORDER. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef LOADED
#define LOADED ORDER
#endif
static _Atomic TYPE x, y;
static int r, s;

static void *one(void *unused)
{
    atomic_store_explicit(&x, 1, ORDER);
#ifdef FENCE
    atomic_thread_fence(FENCE);
#endif
    r = atomic_load_explicit(&y, LOADED);
    return unused;
}

static void *two(void *unused)
{
    atomic_store_explicit(&y, 1, ORDER);
#ifdef FENCE
    atomic_thread_fence(FENCE);
#endif
    s = atomic_load_explicit(&x, LOADED);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(r || s);
    return 0;
}
