#include "search/limits.hpp"

#include <algorithm>

namespace memfence {

Limits Limits::after(double seconds) const {
  constexpr double kNone = 1e-9;  // 0 would mean any time
  Limits rest = *this;
  if (timeout_seconds > 0) rest.timeout_seconds = std::max(kNone, timeout_seconds - seconds);
  return rest;
}

Watch::Watch(const Limits& limits)
    : limits_(limits), start_(Clock::now()), last_report_(start_), base_bytes_(resident_bytes()) {}

double Watch::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

Stop Watch::check(std::uint64_t states, std::uint64_t transitions, std::uint64_t queue, std::uint64_t bytes) {
  if (limits_.cancel && limits_.cancel->load(std::memory_order_relaxed)) return Stop::Cancelled;
  if (limits_.memory_bytes && base_bytes_ + bytes > limits_.memory_bytes) return Stop::Memory;
  const auto now = Clock::now();
  if (limits_.timeout_seconds > 0 && std::chrono::duration<double>(now - start_).count() > limits_.timeout_seconds)
    return Stop::Timeout;
  if (limits_.on_progress && now - last_report_ > std::chrono::milliseconds(100)) {
    last_report_ = now;
    const double megabytes = static_cast<double>(base_bytes_ + bytes) / 1e6;
    if (!limits_.on_progress(Progress{states, transitions, queue, seconds(), megabytes})) return Stop::Cancelled;
  }
  return Stop::None;
}

// The clock is looked at now and then, the memory of the process less often: both cost more than a step.
bool Budget::is_spent() {
  if (why_ != Stop::None) return true;
  const std::uint32_t asked = asked_.fetch_add(1, std::memory_order_relaxed);
  if (asked % 64 != 0) return false;
  if (limits_.cancel && limits_.cancel->load(std::memory_order_relaxed)) why_ = Stop::Cancelled;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  if (limits_.timeout_seconds > 0 && seconds.count() > limits_.timeout_seconds) why_ = Stop::Timeout;
  if (limits_.memory_bytes && asked % 1'024 == 0 && resident_bytes() > limits_.memory_bytes) why_ = Stop::Memory;
  return why_ != Stop::None;
}

bool Budget::is_spent(std::uint64_t nodes) {
  if (limits_.most_states && nodes > kNodesPerState * limits_.most_states && why_ == Stop::None) why_ = Stop::States;
  return is_spent();
}

Stop Watch::check_states(std::uint64_t states) const {
  return limits_.most_states && states >= limits_.most_states ? Stop::States : Stop::None;
}

bool Watch::would_exceed(std::uint64_t bytes, std::uint64_t more) const {
  return limits_.memory_bytes && base_bytes_ + bytes + more > limits_.memory_bytes;
}

}  // namespace memfence
