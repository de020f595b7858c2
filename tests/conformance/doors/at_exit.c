/* Functions that run at exit; WRONG says the opposite. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef WRONG
#define CLAIM(x) assert(!(x))
#else
#define CLAIM(x) assert(x)
#endif

static int last;

#if PART == 1 /* the last one that was registered runs first; one may be registered twice */
static void first(void) { CLAIM(last == 2); }
static void second(void) { last++; }
static void *work(void *unused) { return unused; }
#elif PART == 2 /* a thread registers it, main runs it */
static void first(void) { CLAIM(last == 1); }
static void *work(void *unused) {
    atexit(first);
    last = 1;
    return unused;
}
#elif PART == 3 /* not at the end by _exit */
#ifdef WRONG
#define END exit
#else
#define END _exit
#endif
static void first(void) { assert(0); }
static void *work(void *unused) { return unused; }
#elif PART == 4 /* a destructor of the compiler's */
__attribute__((destructor)) static void first(void) { CLAIM(last == 7); }
static void *work(void *unused) {
    last = 7;
    return unused;
}
#elif PART == 5 /* while other threads go on */
static atomic_int gone;
static void first(void) { gone = 1; }
static void *work(void *unused) {
#ifdef WRONG
    assert(!gone);
#endif
    return unused;
}
#elif PART == 6 /* two threads end the process: it ends once */
static void first(void) { last++, CLAIM(last == 1); }
static void *work(void *unused) {
    exit(0);
    return unused;
}
#elif PART == 7 /* one that is registered while others run does run */
static void third(void) { CLAIM(last == 1); }
static void second(void) { last++, atexit(third); }
static void first(void) { assert(last == 1); }
static void *work(void *unused) { return unused; }
#elif PART == 8 /* registered while the process ends, or never */
static void second(void) {
#ifdef WRONG
    assert(last == 0);
#endif
}
static void first(void) { last++; }
static void *work(void *unused) {
    atexit(second);
    return unused;
}
#endif

int main(void) {
    pthread_t thread;
#if PART == 1 || PART == 3 || PART >= 5
    atexit(first);
#endif
#if PART == 7
    atexit(second);
#endif
#if PART == 1
    atexit(second);
    atexit(second);
#endif
    pthread_create(&thread, 0, work, 0);
#if PART != 5 && PART != 6 && PART != 8
    pthread_join(thread, 0);
#endif
#if PART == 3
    END(0);
#endif
    return 0;
}
