/* Read-copy-update without reclamation: a reader looks until it has seen the second version. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define store(x, value, order) atomic_store_explicit(&(x), value, memory_order_##order)
#define swap(x, value, order) atomic_exchange_explicit(&(x), value, memory_order_##order)

struct version {
  int number;
};
static struct version versions[2];
static _Atomic(struct version *) current;

static void *writer(void *unused) {
  versions[0].number = 1;
  store(current, &versions[0], release);
  versions[1].number = 2;
  store(current, &versions[1], release);
  return 0;
}

static void *reader(void *unused) {
  struct version *seen;
  do {
    seen = load(current, acquire);
    if (seen) assert(seen->number > 0);
  } while (seen != &versions[1]);
  return 0;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, writer, 0);
  pthread_create(&second, 0, reader, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
}
