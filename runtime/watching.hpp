// The store-buffer monitor over an execution that was written down.
#pragma once

#include <optional>

#include "execution/monitor.hpp"
#include "world.hpp"

namespace memfence::running {

struct StaleLoad {
  std::size_t step;    // number of steps before the load
  int reader;
  std::size_t missed;  // step of the write that it could miss
};

// Could a load of the execution have been stale? The first one, if any. `reader`: instead, whether the next load of this
// thread, behind all steps, could be.
std::optional<StaleLoad> find_stale_load(const List<Logged>& log, int threads, int addresses, int reader = -1);

}  // namespace memfence::running
