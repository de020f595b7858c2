/* A ticket lock: two threads, two rounds each, so that tickets have few values. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define store(x, value, order) atomic_store_explicit(&(x), value, memory_order_##order)
#define swap(x, value, order) atomic_exchange_explicit(&(x), value, memory_order_##order)

static int data;
static atomic_int next, now;

static void lock(void) {
  int own = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
  while (load(now, acquire) != own) {
  }
}

static void unlock(void) { store(now, load(now, relaxed) + 1, release); }

static void *work(void *unused) {
  for (int round = 0; round < 2; round++) {
    lock();
    int seen = data;
    data = seen + 1;
    assert(data == seen + 1);
    unlock();
  }
  return 0;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, work, 0);
  pthread_create(&second, 0, work, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
}
