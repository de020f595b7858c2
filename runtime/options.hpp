// What the command line asked for, as the environment hands it over: `name=value`, separated by semicolons.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memfence::running {

struct Options {
  int preemptions = -1;
  std::uint64_t random = 0;  // executions at random instead of all
  std::uint64_t seed = 1;
  std::uint64_t depth = 10'000;
  double timeout = 0, hang = 5;
  bool reduce = true, monitor = true, first = false, confirm = true;
  bool pso = false;
  bool buffers = false;  // explore executions with store buffers instead of SC ones
  int parts = 1, part = 0;  // this part of the tree of executions, of so many
  int changes = 3;  // of priority in a random execution
  bool abort_is_normal = false, exit_is_normal = false, signal_is_normal = false;
  bool prune = true;  // what is spurious and leads nowhere is not followed
  int spurious = 1;  // wake-ups without a signal, and failures for no reason: at each place, of each thread
  std::uint64_t keep = 0;  // executions to report in full
  std::string graphs;  // explore execution graphs under this model
  bool shows_output = false;
};

Options read_options(const char* text);

}  // namespace memfence::running
