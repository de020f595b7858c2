#include "execution/step_events.hpp"

#include <algorithm>

namespace memfence {

namespace {

void add(std::vector<MemoryEvent>& events, MemoryOp op, const Access& a, int group) {
  MemoryEvent& e = events.emplace_back();
  e.op = op;
  e.thread = static_cast<std::uint32_t>(a.thread);
  e.group = static_cast<std::uint32_t>(group);
  e.address = static_cast<std::uint32_t>(a.address);
  e.value = a.value;
  e.has_value = a.touches_memory();
}

// Of a thread that takes part in the step without an access.
void add(std::vector<MemoryEvent>& events, MemoryOp op, int thread) {
  add(events, op, Access{AccessKind::Fence, static_cast<std::int16_t>(thread), 0, 0}, thread);
}

MemoryEvent* find(std::vector<MemoryEvent>& events, MemoryOp op, const Access& a) {
  for (MemoryEvent& e : events)
    if (e.op == op && e.thread == static_cast<std::uint32_t>(a.thread) && e.address == static_cast<std::uint32_t>(a.address))
      return &e;
  return nullptr;
}

void drain(std::vector<MemoryEvent>& events, int thread) {
  const bool drained = std::any_of(events.begin(), events.end(), [&](const MemoryEvent& e) {
    return e.thread == static_cast<std::uint32_t>(thread) && (e.op == MemoryOp::Interlocked || e.op == MemoryOp::Fence);
  });
  if (!drained) add(events, MemoryOp::Fence, thread);
}

}  // namespace

void append_events(std::span<const Access> accesses, const StepShape& shape, int threads, std::vector<MemoryEvent>& events) {
  const auto written_locked = [&](const Access& read) {
    return std::any_of(accesses.begin(), accesses.end(), [&](const Access& a) {
      return a.kind == AccessKind::LockedStore && a.thread == read.thread && a.address == read.address;
    });
  };
  for (const Access& a : accesses) {
    switch (a.kind) {
      case AccessKind::Load:
        if (!find(events, MemoryOp::Load, a)) add(events, MemoryOp::Load, a, a.thread);
        break;
      case AccessKind::LockedLoad:
        if (!written_locked(a) && !find(events, MemoryOp::Load, a)) add(events, MemoryOp::Load, a, a.thread);
        break;
      case AccessKind::LockedStore:
        if (MemoryEvent* same = find(events, MemoryOp::Interlocked, a))
          same->value = a.value;
        else
          add(events, MemoryOp::Interlocked, a, a.thread);
        break;
      case AccessKind::Store: add(events, MemoryOp::Store, a, a.thread); break;
      case AccessKind::DirectStore: add(events, MemoryOp::Direct, a, threads + a.thread); break;
      case AccessKind::Fence: add(events, MemoryOp::Fence, a.thread); break;
    }
  }
  if (shape.locked) drain(events, shape.thread);
  if (shape.partner < 0) return;
  if (shape.partner_locked) drain(events, shape.partner);
  add(events, MemoryOp::Sync, shape.thread);
  add(events, MemoryOp::Sync, shape.partner);
}

}  // namespace memfence
