// Threads that do numbered tasks together, again and again.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace memfence {

class Team {
 public:
  // With `size` 1, only the caller works.
  explicit Team(std::size_t size);
  ~Team();
  Team(const Team&) = delete;

  std::size_t size() const { return helpers_.size() + 1; }

  // Calls task(member, number) for every number below `count`, each once, by whoever is free; returns when all are done.
  // What a task throws is thrown again here.
  void run(std::size_t count, const std::function<void(std::size_t member, std::size_t number)>& task);
  // The same by the caller alone, in order.
  static void run_alone(std::size_t count, const std::function<void(std::size_t member, std::size_t number)>& task);

 private:
  void help(std::size_t member);
  void take_tasks(std::size_t member);

  const std::function<void(std::size_t, std::size_t)>* task_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::uint32_t> round_ = 0;    // another one: there are tasks
  std::atomic<std::uint32_t> working_ = 0;  // helpers that have not finished this round
  std::atomic<bool> is_over_ = false;
  std::mutex guard_;
  std::exception_ptr thrown_;
  std::vector<std::jthread> helpers_;
};

}  // namespace memfence
