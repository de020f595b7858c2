// What executions have shown: each kind of mistake, at each place, once, with the shortest schedule that was met.
#pragma once

#include <string>

#include "leaks.hpp"
#include "stateless/executor.hpp"
#include "watching.hpp"
#include "world.hpp"

namespace memfence::running {

struct Found {
  enum class Kind : std::uint8_t { Borderline, Failure, Deadlock } kind = Kind::Failure;
  std::vector<int> steps;
  Failure failure;
  int reader = -1;  // borderline: who could load a stale value next
  void* pc = nullptr;
  int address = -1;
  int writer = -1;
  std::uint64_t executions = 0;
  std::vector<std::vector<int>> others;  // schedules that show the same, a few
};

class Findings {
 public:
  void borderline(const std::vector<int>& steps, int reader, const std::vector<StaleRead>& reads);
  // The same, of an execution that was written down as a whole.
  void stale(const std::vector<int>& steps, const StaleLoad& load);
  void ended(const std::vector<int>& steps, const Ending& ending);

  std::vector<Found> all;
  Leaks leaks;
  std::uint64_t executions = 0, borderline_executions = 0, failing = 0, deadlocked = 0, truncated = 0;
  std::uint64_t dropped = 0;  // executions in which an assumption is false
  bool has_endless_loop = false;  // each costs seconds: one is enough

 private:
  void add(Found found);
};

}  // namespace memfence::running
