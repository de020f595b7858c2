#include "search/team.hpp"

#include <utility>

namespace memfence {

Team::Team(std::size_t size) {
  for (std::size_t member = 1; member < size; ++member) helpers_.emplace_back([this, member] { help(member); });
}

Team::~Team() {
  is_over_ = true;
  ++round_;
  round_.notify_all();
}

void Team::run_alone(std::size_t count, const std::function<void(std::size_t, std::size_t)>& task) {
  for (std::size_t number = 0; number < count; ++number) task(0, number);
}

void Team::run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& task) {
  task_ = &task;
  count_ = count;
  next_ = 0;
  working_ = static_cast<std::uint32_t>(helpers_.size());
  ++round_;
  round_.notify_all();
  take_tasks(0);
  for (std::uint32_t left = working_; left != 0; left = working_) working_.wait(left);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Team::help(std::size_t member) {
  for (std::uint32_t seen = 0;;) {
    round_.wait(seen);
    ++seen;
    if (is_over_) return;
    take_tasks(member);
    if (--working_ == 0) working_.notify_all();
  }
}

void Team::take_tasks(std::size_t member) {
  try {
    for (std::size_t number = next_++; number < count_; number = next_++) (*task_)(member, number);
  } catch (...) {
    const std::lock_guard hold(guard_);
    thrown_ = std::current_exception();
    next_ = count_;
  }
}

}  // namespace memfence
