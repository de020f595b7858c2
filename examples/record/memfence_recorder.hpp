/* Threads and mutexes of C++ for memfence_recorder.h, which includes this file: recorded where that one records. */
#ifndef MEMFENCE_RECORDER_HPP
#define MEMFENCE_RECORDER_HPP

#include <mutex>
#include <thread>
#include <utility>

namespace memfence {

#ifndef MEMFENCE_RECORD

using std::mutex;
using std::thread;

#else

class mutex {
 public:
  void lock() {
    inner_.lock();
    meet();
  }
  bool try_lock() {
    if (!inner_.try_lock()) return false;
    meet();
    return true;
  }
  void unlock() {
    meet();
    inner_.unlock();
  }

 private:
  void meet() { memfence_meet("mutex", MEMFENCE_ID(this), MEMFENCE_PLACE); }
  std::mutex inner_;
};

class thread {
 public:
  thread() = default;
  template <typename Function>
  explicit thread(Function function) : child_(memfence_new_child()) {
    const int child = child_;
    meet();
    inner_ = std::thread([child, function]() mutable {
      memfence_child_begins(child);
      function();
      int ended = child;
      memfence_child_ends(&ended);
    });
  }
  bool joinable() const { return inner_.joinable(); }
  void join() {
    const pthread_t id = inner_.native_handle();
    inner_.join();
    memfence_joined(id, MEMFENCE_PLACE);
  }

 private:
  void meet() { memfence_meet("thread", static_cast<unsigned long long>(child_), MEMFENCE_PLACE); }
  int child_ = 0;
  std::thread inner_;
};

#endif

}  // namespace memfence

#endif
