/* A ring for one producer and one consumer, who never stop. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define store(x, value, order) atomic_store_explicit(&(x), value, memory_order_##order)
#define swap(x, value, order) atomic_exchange_explicit(&(x), value, memory_order_##order)

static int items[2];
static atomic_int head, tail;

static void *producer(void *unused) {
  for (int at = 0, value = 0;; at = (at + 1) % 4, value = !value) {
    while ((load(head, acquire) + 2) % 4 == at) {
    }
    items[at % 2] = value;
    store(tail, (at + 1) % 4, release);
  }
}

static void *consumer(void *unused) {
  for (int at = 0, value = 0;; at = (at + 1) % 4, value = !value) {
    while (load(tail, acquire) == at) {
    }
    assert(items[at % 2] == value);
    store(head, (at + 1) % 4, release);
  }
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, producer, 0);
  pthread_create(&second, 0, consumer, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
}
