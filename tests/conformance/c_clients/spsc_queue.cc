// Two elements through rigtorp's SPSCQueue, of one place and then of two: they arrive whole and in order.
#include <cassert>
#include <thread>

#include "rigtorp/SPSCQueue.h"

int main() {
  rigtorp::SPSCQueue<int> queue(PLACES);
  std::thread producer([&] {
    queue.push(7);
    queue.push(8);
  });
  for (int expected = 7; expected <= 8; ++expected) {
    while (!queue.front()) {
    }
    assert(*queue.front() == expected);
    queue.pop();
  }
  producer.join();
  assert(queue.empty());
  return 0;
}
