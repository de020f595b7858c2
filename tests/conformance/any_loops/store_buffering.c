/* The core of Dekker and Peterson: seq_cst accesses, again and again. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define store(x, value, order) atomic_store_explicit(&(x), value, memory_order_##order)
#define swap(x, value, order) atomic_exchange_explicit(&(x), value, memory_order_##order)

static atomic_int x, y;
static int inside;

static void *one(void *unused) {
  for (;;) {
    store(x, 1, seq_cst);
    if (!load(y, seq_cst)) {
      inside = 1;
      inside = 0;
    }
    store(x, 0, seq_cst);
  }
}

static void *two(void *unused) {
  for (;;) {
    store(y, 1, seq_cst);
    if (!load(x, seq_cst)) {
      inside = 2;
      inside = 0;
    }
    store(y, 0, seq_cst);
  }
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, one, 0);
  pthread_create(&second, 0, two, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
}
