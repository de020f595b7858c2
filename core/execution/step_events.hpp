// The accesses of one step as the monitor wants them.
#pragma once

#include <span>
#include <vector>

#include "execution/access.hpp"
#include "execution/memory_event.hpp"

namespace memfence {

// Who takes a step. A rendezvous has a `partner`, else -1. A locked side needs its store buffer empty.
struct StepShape {
  int thread = 0;
  bool locked = false;
  int partner = -1;
  bool partner_locked = false;
};

// Append the events of a step. A variable that a locked step writes is one interlocked event; a locked step that only
// reads is loads and a fence. Direct writes of thread t are counted in the group `threads` + t.
void append_events(std::span<const Access> accesses, const StepShape& shape, int threads, std::vector<MemoryEvent>& events);

}  // namespace memfence
