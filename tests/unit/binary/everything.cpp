// Most of what C++ programs with threads use, in one test.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

thread_local int mine = 5;
std::mutex mutex;
std::condition_variable changed;
bool ready = false;
std::atomic<int> done{0};
std::atomic<int> woken{0};
std::vector<int> results;

int& counter() {
  static int count = 40;
  return count;
}

void work(int number) {
  mine += number;
  try {
    if (number == 1) throw std::runtime_error("one");
  } catch (const std::exception& problem) {
    mine += static_cast<int>(std::string(problem.what()).size());
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [] { return ready; });
  results.push_back(mine);
  ++counter();
  lock.unlock();
  done.fetch_add(1);
  if (number == 0) {
    woken.store(1);
    woken.notify_one();
  } else {
    woken.wait(0);
  }
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  const auto box = std::make_unique<int>(3);
  for (int i = 0; i < 2; ++i) threads.emplace_back(work, i);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    ready = true;
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  assert(done == 2 && *box == 3 && counter() == 42);
  assert(results.size() == 2 && results[0] + results[1] == 5 + 9);
  return 0;
}
