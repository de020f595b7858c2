/* A mutex of pthreads, for ever. */
#include <assert.h>
#include <pthread.h>

static int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    data = 1;
    assert(data == 1);
    data = 0;
    pthread_mutex_unlock(&mutex);
  }
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, work, 0);
  pthread_create(&second, 0, work, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
}
