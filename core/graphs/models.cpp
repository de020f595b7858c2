#include "graphs/models.hpp"

#include <algorithm>

namespace memfence::graphs {

namespace {

void merge(Count* into, const Count* from, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) into[i] = std::max(into[i], from[i]);
}

void learn_causally(ExecutionGraph& graph, EventId id) {
  const Event& event = graph.event(id);
  if (!event.reads() || event.source < 0) return;
  merge(graph.clock(id, kCausal), graph.clock(event.source, kCausal), graph.stride());
}

// Where modification order and from-reads lead to from the event, immediately.
template <class Reach>
void follow_newer(const ExecutionGraph& graph, const Event& event, const Reach& reach) {
  if (!event.writes() && (!event.reads() || event.waits())) return;
  const int place = event.writes() ? event.place : graph.place_of(event.source);
  const std::vector<EventId>& writes = graph.writes(event.location);
  if (static_cast<std::size_t>(place) < writes.size()) reach(writes[static_cast<std::size_t>(place)]);
}

template <class Reach>
void follow_readers(const ExecutionGraph& graph, EventId id, const Event& event, const Reach& reach) {
  if (!event.writes()) return;
  for (const EventId read : graph.reads(event.location))
    if (graph.event(read).source == id) reach(read);
}

}  // namespace

void Sc::learn(ExecutionGraph& graph, EventId id) const { learn_causally(graph, id); }

// What is reached of a thread is its last part, so its first event says it all.
bool Sc::is_consistent(const ExecutionGraph& graph, EventId id) {
  first_.assign(static_cast<std::size_t>(graph.threads()), INT32_MAX);
  open_.clear();
  bool found = false;
  const auto reach = [&](EventId target) {
    if (ExecutionGraph::knows(graph.clock(id, kCausal), target)) {
      found = true;
      return;
    }
    int& first = first_[static_cast<std::size_t>(thread_of(target))];
    if (number_of(target) >= first) return;
    const int end = std::min(first, graph.size(thread_of(target)));
    first = number_of(target);
    for (int n = number_of(target); n < end; ++n) open_.push_back(event_id(thread_of(target), n));
  };
  follow_newer(graph, graph.event(id), reach);
  while (!open_.empty() && !found) {
    const EventId here = open_.back();
    open_.pop_back();
    const Event& event = graph.event(here);
    follow_newer(graph, event, reach);
    follow_readers(graph, here, event, reach);
  }
  return !found;
}

void Tso::learn(ExecutionGraph& graph, EventId id) const { learn_causally(graph, id); }

bool Tso::is_consistent(const ExecutionGraph& graph, EventId id) {
  const auto threads = static_cast<std::size_t>(graph.threads());
  all_.assign(threads, INT32_MAX);
  writes_.assign(threads, INT32_MAX);
  open_.clear();
  // What an event leads to in its thread: all that follows; of a write that is not locked, the writes that follow, and all
  // behind what is locked or a full fence. The event itself is reached by what comes from other threads.
  const auto is_barrier = [](const Event& event) {
    return (event.order & kLocked) != 0 || (event.kind == ActionKind::Fence && (event.order & kFull) != 0);
  };
  const auto enter = [&](int thread, int from, bool all) {
    const auto t = static_cast<std::size_t>(thread);
    for (int n = from; n < graph.size(thread) && n < all_[t]; ++n) {
      const Event& event = graph.event(event_id(thread, n));
      if (!all && is_barrier(event)) {
        all = true;
        // Behind it everything is reached, the reads that writes alone did not reach as well.
      }
      if (all) {
        const int end = std::min(all_[t], graph.size(thread));
        all_[t] = n;
        for (int m = n; m < end; ++m) open_.push_back(event_id(thread, m));
        return;
      }
      if (n >= writes_[t]) return;
      if (event.writes()) open_.push_back(event_id(thread, n));
    }
  };
  const auto reach = [&](EventId target) {
    const Event& event = graph.event(target);
    const int thread = thread_of(target), n = number_of(target);
    const auto t = static_cast<std::size_t>(thread);
    if (!event.writes() || is_barrier(event)) return enter(thread, n, true);
    if (n >= writes_[t] || n >= all_[t]) return;
    enter(thread, n, false);
    writes_[t] = n;
  };
  const auto follow = [&](EventId here) {
    const Event& event = graph.event(here);
    follow_newer(graph, event, reach);
    follow_readers(graph, here, event, [&](EventId read) {
      if (thread_of(read) != thread_of(here)) reach(read);
    });
  };
  const auto is_reached = [&] {
    const auto t = static_cast<std::size_t>(thread_of(id));
    return all_[t] <= number_of(id) || (graph.event(id).writes() && writes_[t] <= number_of(id));
  };
  follow(id);
  while (!open_.empty() && !is_reached()) {
    const EventId here = open_.back();
    open_.pop_back();
    follow(here);
  }
  return !is_reached();
}

void Rc11::learn(ExecutionGraph& graph, EventId id) const {
  learn_causally(graph, id);
  const Event& event = graph.event(id);
  const std::size_t width = graph.stride();
  Count* happens = graph.clock(id, kHappens);
  Count* acquired = graph.clock(id, kAcquired);
  if (event.reads() && event.source >= 0 && !event.is_plain()) {
    const Count* message = graph.clock(event.source, kMessage);
    merge(acquired, message, width);
    if (event.order & kAcquire) merge(happens, message, width);
  }
  if (event.kind == ActionKind::Fence) {
    if (event.order & kAcquire) merge(happens, acquired, width);
    if (event.order & kRelease) std::copy_n(happens, width, graph.clock(id, kReleased));
  }
  if (event.writes() && !event.is_plain()) {
    Count* message = graph.clock(id, kMessage);
    std::copy_n(event.order & kRelease ? happens : graph.clock(id, kReleased), width, message);
    if (event.is_update) {
      const EventId source = graph.event(id - 1).source;
      if (source >= 0) merge(message, graph.clock(source, kMessage), width);
    }
  }
}

}  // namespace memfence::graphs
