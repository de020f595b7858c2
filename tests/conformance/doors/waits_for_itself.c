/* What waits for itself before there is another thread: a deadlock. WRONG: it does. */
#include <pthread.h>
#include <semaphore.h>

#if PART == 1
static pthread_once_t flag = PTHREAD_ONCE_INIT;
static void init(void) {
#ifdef WRONG
    pthread_once(&flag, init);
#endif
}
int main(void) {
    pthread_once(&flag, init);
    pthread_once(&flag, init);
    return 0;
}
#elif PART == 2
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&mutex);
#ifndef WRONG
    pthread_mutex_unlock(&mutex);
#endif
    pthread_mutex_lock(&mutex);
    return 0;
}
#elif PART == 3
int main(void) {
    sem_t semaphore;
#ifdef WRONG
    sem_init(&semaphore, 0, 0);
#else
    sem_init(&semaphore, 0, 1);
#endif
    sem_wait(&semaphore);
    return 0;
}
#endif
