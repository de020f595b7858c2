// Whether an event was added maximally, which is what makes every execution be visited once.
//
// When a write revisits a read, all that was added after the read and does not lead to the write is left out. Many graphs
// lose the same in that way; the read is revisited from one of them only: that in which all that is left out, and the read,
// was added as if it came last, that is, reads read the newest write there was, and writes were placed last. "There was":
// added before, or leading to the write that revisits. (TruSt, section 4; `Previous` in its algorithm.)
//
// A read that waits counts as reading the newest write, if that is one on which its thread waits.
#pragma once

#include "graphs/execution_graph.hpp"

namespace memfence::graphs {

class Previous {
 public:
  // `prefix`: what leads to the write that revisits.
  Previous(const ExecutionGraph& graph, int stamp, const Count* prefix) : graph_(graph), stamp_(stamp), prefix_(prefix) {}

  bool has(EventId id) const {
    return id == kInitial || graph_.event(id).stamp <= stamp_ || ExecutionGraph::knows(prefix_, id);
  }
  // The newest write of the location among them.
  EventId newest(int location) const {
    const auto& writes = graph_.writes(location);
    for (std::size_t n = writes.size(); n-- > 0;)
      if (has(writes[n])) return writes[n];
    return kInitial;
  }

 private:
  const ExecutionGraph& graph_;
  int stamp_;
  const Count* prefix_;
};

// `blocks(thread, write, location)`: whether the thread, which waits at a read there, goes on waiting with this write.
template <class Blocks>
bool is_maximal(const ExecutionGraph& graph, EventId id, const Count* prefix, const Blocks& blocks) {
  const Event& event = graph.event(id);
  switch (event.kind) {
    case ActionKind::Choice: return event.value == 0;
    case ActionKind::Read: {
      const EventId newest = Previous(graph, event.stamp, prefix).newest(event.location);
      return event.waits() ? blocks(thread_of(id), newest, event.location) : event.source == newest;
    }
    case ActionKind::Write: {
      for (const EventId read : graph.reads(event.location))
        if (graph.event(read).source == id && graph.event(read).stamp < event.stamp) return false;
      return Previous(graph, event.stamp, prefix).newest(event.location) == id;
    }
    default: return true;
  }
}

}  // namespace memfence::graphs
