/* Ends of the process that only `run` follows; WRONG says the opposite. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef WRONG
#define CLAIM(x) assert(!(x))
#else
#define CLAIM(x) assert(x)
#endif

static int done;

static void *work(void *number) {
    __atomic_fetch_add(&done, *(int *)number, __ATOMIC_RELAXED);
    return 0;
}

#if WAY == 1 /* main ends its thread: the last thread ends the process, whichever it is */
static void end(void) { CLAIM(done == 3); }
#elif WAY == 2 /* quick_exit has functions of its own */
static void never(void) { assert(0); }
static void first(void) { CLAIM(done == 2); }
static void last(void) { done = 2; }
#endif

int main(void) {
    static int numbers[] = {1, 2};
    pthread_t threads[2];
#if WAY == 1
    atexit(end);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, &numbers[i]);
    pthread_exit(0);
#elif WAY == 2
    atexit(never);
    at_quick_exit(first);
    at_quick_exit(last);
    pthread_create(&threads[0], 0, work, &numbers[0]);
    pthread_join(threads[0], 0);
    quick_exit(0);
#endif
}
