// Two producers and a consumer of rigtorp's MPMCQueue with two places: each element arrives once.
#include <cassert>
#include <thread>

#include "rigtorp/MPMCQueue.h"

int main() {
  rigtorp::MPMCQueue<int> queue(2);
  std::thread one([&] { queue.push(1); });
  std::thread two([&] { queue.push(2); });
  int first = 0, second = 0;
  queue.pop(first);
  queue.pop(second);
  assert(first + second == 3 && first != second);
  one.join();
  two.join();
  return 0;
}
