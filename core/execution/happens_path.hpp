// The happens-before path that makes a stale load visible, and the store-load pairs on it that a fence would close.
#pragma once

#include <span>
#include <vector>

#include "execution/memory_event.hpp"

namespace memfence {

// An event as the path shows it. Events with the same `step` happen together.
struct PastEvent {
  MemoryOp op = MemoryOp::Load;
  bool has_value = false;
  std::uint32_t thread = 0, address = 0, location = 0;
  std::int64_t value = 0;
  std::uint64_t line = 0, step = 0;
};

// Positions of the events of a path from the write `from` to the load `to`, both included: of all paths one with the
// fewest store-load pairs of a thread without a fence between them (a load of the own store not counted), then with the
// fewest events. Empty: there is none.
std::vector<std::size_t> happens_path(std::span<const PastEvent> events, std::size_t from, std::size_t to);

// Whether the step from `a` to `b` of a path is one that a store buffer does not keep: a store, then a load of its thread.
inline bool is_gap(const PastEvent& a, const PastEvent& b) {
  return a.thread == b.thread && a.op == MemoryOp::Store && loads(b.op);
}

}  // namespace memfence
