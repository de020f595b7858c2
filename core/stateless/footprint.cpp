#include "stateless/footprint.hpp"

#include <algorithm>

namespace memfence {

namespace {

void add_event(std::vector<MemoryEvent>& events, MemoryOp op, int process, int group, int variable, Value value,
               bool has_value) {
  MemoryEvent& e = events.emplace_back();
  e.op = op;
  e.thread = static_cast<std::uint32_t>(process);
  e.group = static_cast<std::uint32_t>(group);
  e.address = static_cast<std::uint32_t>(variable);
  e.value = value;
  e.has_value = has_value;
}

MemoryEvent* find(std::vector<MemoryEvent>& events, MemoryOp op, int process, int variable) {
  for (MemoryEvent& e : events)
    if (e.op == op && e.thread == static_cast<std::uint32_t>(process) && e.address == static_cast<std::uint32_t>(variable))
      return &e;
  return nullptr;
}

}  // namespace

void make_events(std::span<const Touch> accesses, const Edge& edge, int processes, std::vector<MemoryEvent>& events) {
  const auto written_locked = [&](const Touch& read) {
    return std::any_of(accesses.begin(), accesses.end(), [&](const Touch& a) {
      return a.kind == TouchKind::LockedStore && a.process == read.process && a.variable == read.variable;
    });
  };
  for (const Touch& a : accesses) {
    switch (a.kind) {
      case TouchKind::Load:
        if (!find(events, MemoryOp::Load, a.process, a.variable))
          add_event(events, MemoryOp::Load, a.process, a.process, a.variable, a.value, true);
        break;
      case TouchKind::Store: add_event(events, MemoryOp::Store, a.process, a.process, a.variable, a.value, true); break;
      case TouchKind::DirectStore:
        add_event(events, MemoryOp::Direct, a.process, processes + a.process, a.variable, a.value, true);
        break;
      case TouchKind::Fence: add_event(events, MemoryOp::Fence, a.process, a.process, 0, 0, false); break;
      case TouchKind::LockedLoad:
        if (written_locked(a) || find(events, MemoryOp::Load, a.process, a.variable)) break;
        add_event(events, MemoryOp::Load, a.process, a.process, a.variable, a.value, true);
        break;
      case TouchKind::LockedStore:
        if (MemoryEvent* same = find(events, MemoryOp::Interlocked, a.process, a.variable))
          same->value = a.value;
        else
          add_event(events, MemoryOp::Interlocked, a.process, a.process, a.variable, a.value, true);
        break;
    }
  }
  const auto drain = [&](int process, bool locked) {
    const auto drains = [&](const MemoryEvent& e) {
      return e.thread == static_cast<std::uint32_t>(process) && (e.op == MemoryOp::Interlocked || e.op == MemoryOp::Fence);
    };
    if (locked && std::none_of(events.begin(), events.end(), drains))
      add_event(events, MemoryOp::Fence, process, process, 0, 0, false);
  };
  drain(edge.process, edge.locked);
  if (edge.partner < 0) return;
  drain(edge.partner, edge.partner_locked);
  add_event(events, MemoryOp::Sync, edge.process, edge.process, 0, 0, false);
  add_event(events, MemoryOp::Sync, edge.partner, edge.partner, 0, 0, false);
}

}  // namespace memfence
