// Two threads, each once in a critical section of a LOCK, which GUARD takes and gives back.
#include <cassert>
#include <mutex>
#include <thread>
#include HEADER

#ifndef GUARD
#define GUARD std::lock_guard<LOCK>
#endif
static LOCK mutex;
static int inside, count;

static void work() {
  GUARD guard(mutex);
  ++inside;
  assert(inside == 1);
  ++count;
  --inside;
}

int main() {
  std::thread one(work), two(work);
  one.join();
  two.join();
  assert(count == 2);
  return 0;
}
