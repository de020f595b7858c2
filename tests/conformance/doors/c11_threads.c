/* The threads, locks and conditions of <threads.h>. */
#include <assert.h>
#include <threads.h>
#include <time.h>

static mtx_t mutex;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t own;
static int counter, ready, made;

static void make(void) { made++; }

static int work(void *argument)
{
    struct timespec soon = {1, 0};
    (void)soon;
#if PART == 1
    mtx_lock(&mutex);
    counter++;
    mtx_unlock(&mutex);
#elif PART == 2
    if (mtx_trylock(&mutex) == thrd_success) {
        counter++;
        mtx_unlock(&mutex);
    }
#elif PART == 3
    if (mtx_timedlock(&mutex, &soon) == thrd_success) {
        counter++;
        mtx_unlock(&mutex);
    }
#elif PART == 4
    call_once(&once, make);
    assert(made == 1);
#elif PART == 5
    tss_set(own, argument);
    assert(tss_get(own) == argument);
#elif PART == 6 || PART == 7
    mtx_lock(&mutex);
    if (argument) {
        ready = 1;
        cnd_signal(&changed);
    } else {
#if PART == 6
        while (!ready)
#else
        if (!ready)
#endif
            cnd_wait(&changed, &mutex);
        assert(ready);
    }
    mtx_unlock(&mutex);
#elif PART == 8
    thrd_yield();
    mtx_lock(&mutex);
    counter++;
    mtx_unlock(&mutex);
    thrd_exit(argument ? 7 : 3);
#elif PART == 9
    counter++;
#elif PART == 10
    mtx_lock(&mutex);
    while (argument && !ready)
        cnd_wait(&changed, &mutex);
    ready = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
#endif
    return argument ? 7 : 3;
}

int main(void)
{
    thrd_t a, b;
    int first = 0, second = 0;
    mtx_init(&mutex, PART == 3 ? mtx_timed : mtx_plain);
    cnd_init(&changed);
    tss_create(&own, 0);
    thrd_create(&a, work, 0);
    thrd_create(&b, work, &counter);
    thrd_join(a, &first);
    thrd_join(b, &second);
    assert(first == 3 && second == 7);
#if PART == 1 || PART == 8 || PART == 9
    assert(counter == 2);
#elif PART == 2 || PART == 3
    assert(counter >= 1);
#endif
    cnd_destroy(&changed);
    mtx_destroy(&mutex);
    return 0;
}
