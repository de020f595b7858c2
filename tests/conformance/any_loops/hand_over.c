/* Message passing, to and fro for ever. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define store(x, value, order) atomic_store_explicit(&(x), value, memory_order_##order)
#define swap(x, value, order) atomic_exchange_explicit(&(x), value, memory_order_##order)

static int message;
static atomic_int full;

static void *sender(void *unused) {
  for (;;) {
    message = 1;
    store(full, 1, release);
    while (load(full, acquire)) {
    }
  }
}

static void *receiver(void *unused) {
  for (;;) {
    while (!load(full, acquire)) {
    }
    assert(message == 1);
    message = 0;
    store(full, 0, release);
  }
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, sender, 0);
  pthread_create(&second, 0, receiver, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
}
