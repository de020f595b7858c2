/* A barrier that turns its sense round, for ever. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define store(x, value, order) atomic_store_explicit(&(x), value, memory_order_##order)
#define swap(x, value, order) atomic_exchange_explicit(&(x), value, memory_order_##order)

static int done[2];
static atomic_int arrived, sense;

static void wait(int own) {
  if (atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel) == 1) {
    store(arrived, 0, relaxed);
    store(sense, own, release);
  } else {
    while (load(sense, acquire) != own) {
    }
  }
}

static void work(int id) {
  for (;;) {
    done[id] = 1;
    wait(1);
    assert(done[1 - id]);
    wait(0);
    done[id] = 0;
    wait(1);
    wait(0);
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
