/* What library functions return where they refuse, and what nobody may write; WRONG says the opposite, or does it. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#ifdef WRONG
#define CLAIM(x) assert(!(x))
#else
#define CLAIM(x) assert(x)
#endif

#if PART == 1 /* a recursive mutex that this thread does not hold */
static pthread_mutex_t mutex;
static void *work(void *unused) {
    CLAIM(pthread_mutex_unlock(&mutex) == EPERM);
    return unused;
}
#elif PART == 2 /* a barrier for nobody */
static pthread_barrier_t barrier;
static void *work(void *unused) {
    CLAIM(pthread_barrier_init(&barrier, 0, 0) == EINVAL);
    return unused;
}
#elif PART == 3 /* a semaphore above SEM_VALUE_MAX */
static sem_t semaphore;
static void *work(void *unused) {
    CLAIM(sem_init(&semaphore, 0, (unsigned)INT_MAX + 1U) == -1 && errno == EINVAL);
    return unused;
}
#elif PART == 4 /* a const object */
#ifdef WRONG
#define READ_ONLY const
#else
#define READ_ONLY
#endif
static READ_ONLY int table[3] = {1, 2, 3};
static void *work(void *unused) {
    ((volatile int *)table)[1] = 5;
    return unused;
}
#elif PART == 5 /* a string literal */
static char buffer[] = "abc";
#ifdef WRONG
static char *text = "abc";
#else
static char *text = buffer;
#endif
static void *work(void *unused) {
    *text = 'x';
    return unused;
}
#elif PART == 6 /* the least integer has no absolute value */
static volatile int number;
static void *work(void *unused) {
#ifdef WRONG
    number = INT_MIN;
#else
    number = -INT_MAX;
#endif
    number = abs(number);
    return unused;
}
#endif

int main(void) {
    pthread_t thread;
#if PART == 1
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &recursive);
    pthread_mutex_lock(&mutex);
#endif
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
