// What may stop a search early, and what it reports about itself. A limit is not an error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace memfence {

enum class Stop : std::int32_t { None, Timeout, Memory, Cancelled, Found, States };

struct Progress {
  std::uint64_t states, transitions, queue;
  double seconds;
  double megabytes;
};

// Shared between a search and whoever may want to end it.
using CancelFlag = std::shared_ptr<std::atomic<bool>>;

struct Limits {
  double timeout_seconds = 0;      // 0: none
  std::uint64_t memory_bytes = 0;  // of the whole process; 0: none
  std::uint64_t most_states = 0;   // 0: none
  std::uint64_t compact_from = 0;  // states from which on a search keeps the bare states only; 0: when memory ends
  CancelFlag cancel;
  std::function<bool(const Progress&)> on_progress;  // called about ten times per second; false cancels

  // What is left of these after so many seconds.
  Limits after(double seconds) const;
};

// Watches the limits for one search. Cheap enough to be asked every few dozen states.
class Watch {
 public:
  explicit Watch(const Limits& limits);

  // Why to stop now, if at all. `bytes` is what the search itself holds.
  Stop check(std::uint64_t states, std::uint64_t transitions, std::uint64_t queue, std::uint64_t bytes);
  // Stop::States once there are `most_states`. Apart from check(): a parallel search asks only where it stays deterministic.
  Stop check_states(std::uint64_t states) const;
  // Whether `more` bytes on top of `bytes` would break the memory limit.
  bool would_exceed(std::uint64_t bytes, std::uint64_t more) const;
  double seconds() const;
  std::uint64_t base_bytes() const { return base_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;
  const Limits& limits_;
  Clock::time_point start_, last_report_;
  std::uint64_t base_bytes_;
};

// The same limits for whoever may take long over a single state, between two looks of the search's own Watch.
class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits), start_(std::chrono::steady_clock::now()) {}

  // To be asked every few steps, by any thread; true for good once a limit was hit.
  bool is_spent();
  // The same for a search within the search that has come to so many nodes of its own: where states are limited, so are these.
  bool is_spent(std::uint64_t nodes);
  Stop why() const { return why_; }

 private:
  static constexpr std::uint64_t kNodesPerState = 5;

  const Limits& limits_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<std::uint32_t> asked_ = 0;
  std::atomic<Stop> why_ = Stop::None;
};

// The most memory that this process ever held.
std::uint64_t peak_bytes();
// The memory that it holds now; where the system does not tell, the most it ever held: a limit is then met too early, never
// too late.
std::uint64_t resident_bytes();

}  // namespace memfence
