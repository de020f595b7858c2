/* A queue of one reader and one writer, and a mutex for what they count: recorded for `memfence monitor`.
 *
 * Its stores and loads need no fence on x86: every recorded execution is answered with HOLDS.
 */
#include "memfence_recorder.h"

#include <mutex>

static const unsigned kSize = 2, kItems = 5;
static int slots[kSize];
static std::atomic<unsigned> head{0}, tail{0};
static memfence::mutex guard;
static int moved = 0;

static void count() {
  std::lock_guard<memfence::mutex> held(guard);
  MEMFENCE_WRITE(moved, MEMFENCE_READ(moved) + 1);
}

static void put_all() {
  for (unsigned n = 0; n < kItems; ++n) {
    while (n - MEMFENCE_LOAD(&head, std::memory_order_acquire) == kSize) std::this_thread::yield();
    MEMFENCE_WRITE(slots[n % kSize], static_cast<int>(n));
    MEMFENCE_STORE(&tail, n + 1, std::memory_order_release);
    count();
  }
}

static void take_all() {
  for (unsigned n = 0; n < kItems; ++n) {
    while (MEMFENCE_LOAD(&tail, std::memory_order_acquire) == n) std::this_thread::yield();
    if (MEMFENCE_READ(slots[n % kSize]) != static_cast<int>(n)) abort();
    MEMFENCE_STORE(&head, n + 1, std::memory_order_release);
    count();
  }
}

int main() {
  MEMFENCE_NAME(&head);
  MEMFENCE_NAME(&tail);
  memfence::thread writer(put_all), reader(take_all);
  writer.join();
  reader.join();
  return moved == 2 * static_cast<int>(kItems) ? 0 : 1;
}
