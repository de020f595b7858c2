/* A test-and-test-and-set lock: two threads that never stop. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define store(x, value, order) atomic_store_explicit(&(x), value, memory_order_##order)
#define swap(x, value, order) atomic_exchange_explicit(&(x), value, memory_order_##order)

static int data;
static atomic_int held;

static void lock(int id) {
  for (;;) {
    while (load(held, relaxed)) {
    }
    if (!swap(held, 1, acquire)) return;
  }
}

static void unlock(int id) {
  store(held, 0, release);
}

static void work(int id) {
  for (;;) {
    lock(id);
    data = id;
    assert(data == id);
    unlock(id);
  }
}

static void *one(void *unused) {
  work(0);
  return 0;
}

static void *two(void *unused) {
  work(1);
  return 0;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, one, 0);
  pthread_create(&second, 0, two, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
}
