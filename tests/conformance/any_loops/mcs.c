/* An MCS lock: two threads that never stop. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define load(x, order) atomic_load_explicit(&(x), memory_order_##order)
#define store(x, value, order) atomic_store_explicit(&(x), value, memory_order_##order)
#define swap(x, value, order) atomic_exchange_explicit(&(x), value, memory_order_##order)

static int data;
struct node {
  _Atomic(struct node *) next;
  atomic_int waits;
};
static struct node nodes[2];
static _Atomic(struct node *) tail;

static void lock(int id) {
  struct node *own = &nodes[id];
  store(own->next, (struct node *)0, relaxed);
  store(own->waits, 1, relaxed);
  struct node *before = swap(tail, own, acq_rel);
  if (!before) return;
  store(before->next, own, release);
  while (load(own->waits, acquire)) {
  }
}

static void unlock(int id) {
  struct node *own = &nodes[id], *next = load(own->next, acquire);
  if (!next) {
    struct node *expected = own;
    if (atomic_compare_exchange_strong_explicit(&tail, &expected, (struct node *)0, memory_order_release, memory_order_relaxed))
      return;
    while (!(next = load(own->next, acquire))) {
    }
  }
  store(next->waits, 0, release);
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
