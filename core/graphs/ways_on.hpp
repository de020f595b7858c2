// What the explorer does with an action: the ways on from a read and from a write, and what becomes of one of them.
#pragma once

#include <algorithm>

#include "graphs/explorer.hpp"

namespace memfence::graphs {

template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::read(int thread, const Action& action) {
  const auto& writes = graph().writes(action.location);
  const int newest = static_cast<int>(writes.size());
  const int least = is_settled(action.order) || finishes_ ? newest : floor(known_to(thread), action.location);
  const Count* causes = graph().size(thread) ? graph().clock(graph().last(thread), kCausal) : nullptr;
  Frame frame{Way::Read, depth_, graph().size(), thread, action, kNoEvent, {}, options_.size(), 0, 0};
  bool waits = false;
  for (int place = newest; place >= least; --place) {
    const Outlook outlook = executor_.outlook(thread, value_of(graph().write_at(action.location, place), action.location));
    if (outlook.blocks) {
      waits |= place == newest;
      continue;
    }
    if (place < newest && outlook.updates && graph().event(writes[at(place)]).is_update &&
        ExecutionGraph::knows(causes, writes[at(place)] - 1))
      continue;  // its rival is there for good
    options_.push_back(place);
  }
  if (!waits && action.may_wait && !finishes_ && !is_settled(action.order)) waits = could_wait(thread, action.location);
  if (waits && (!finishes_ || options_.size() == frame.options)) options_.push_back(kWait);
  return begin(frame, false);
}

template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::take_read(int thread, const Action& action, int place) {
  if (place == kWait) {
    add(thread, action, kNowhere, 0, 0);
    return true;
  }
  const EventId source = graph().write_at(action.location, place);
  const Value value = value_of(source, action.location);
  follow();
  const EventId id = add(thread, action, source, value, 0, executor_.outlook(thread, value));
  if (!is_newest(action.location, place) && !model_.is_consistent(graph(), id)) return give_up();
  return advance(thread, value);
}

// The read of another update of what this update has read: the two cannot both stay.
template <class M, Executor E, class L>
  requires Listener<L>
EventId Explorer<M, E, L>::rival_of(int thread, const Action& action) {
  if (!action.is_update) return kNoEvent;
  const int place = graph().place_of(graph().event(graph().last(thread)).source);
  const auto& writes = graph().writes(action.location);
  if (at(place) == writes.size() || !graph().event(writes[at(place)]).is_update) return kNoEvent;
  return writes[at(place)] - 1;
}

// Places above the one given, the last one first; an update comes right behind what it has read.
template <class M, Executor E, class L>
  requires Listener<L>
void Explorer<M, E, L>::options_for_write(int thread, const Action& action, int above) {
  const auto& writes = graph().writes(action.location);
  const int end = static_cast<int>(writes.size()) + 1;
  if (action.is_update) {
    const int place = graph().place_of(graph().event(graph().last(thread)).source) + 1;
    if (place > above && rival_of(thread, action) == kNoEvent) options_.push_back(place);
    return;
  }
  for (int place = end; place > above; --place) {
    if (place < end && (is_settled(action.order) || finishes_)) break;
    if (place < end && graph().event(writes[at(place - 1)]).is_update) continue;  // it belongs to the one before
    options_.push_back(place);
  }
}

template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::write(int thread, const Action& action) {
  Frame frame{Way::Write, depth_, graph().size(), thread, action, kNoEvent, {}, options_.size(), 0, 0};
  options_for_write(thread, action, floor(known_to(thread), action.location));
  frame.revisits = options_.size();
  if (!finishes_) find_revisits(thread, action, rival_of(thread, action));
  return begin(frame, true);
}

// From the event added last backwards, as long as everything could be left out. `rival`: this must be.
template <class M, Executor E, class L>
  requires Listener<L>
void Explorer<M, E, L>::find_revisits(int thread, const Action& action, EventId rival) {
  if (is_settled(action.order)) return;
  const Count* prefix = graph().size(thread) ? graph().clock(graph().last(thread), kCausal) : nullptr;
  const auto blocks = [&](int waiting, EventId write, int location) {
    return executor_.outlook(waiting, value_of(write, location)).blocks;
  };
  const auto& events = graph().events();
  for (std::size_t n = events.size(); n-- > 0;) {
    const EventId id = events[n];
    if (ExecutionGraph::knows(prefix, id)) continue;
    if (!is_maximal(graph(), id, prefix, blocks)) return;
    const Event& event = graph().event(id);
    if (!event.reads() || event.location != action.location || is_settled(event.order)) continue;
    if (rival != kNoEvent && event.stamp > graph().event(rival).stamp) continue;
    if (event.waits() && executor_.outlook(thread_of(id), action.value).blocks) continue;
    options_.push_back(id);
  }
}

template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::take_write(int thread, const Action& action, int place) {
  const EventId id = add(thread, action, kNoEvent, action.value, place);
  if (!is_newest(action.location, place) && !model_.is_consistent(graph(), id)) return give_up();
  return advance(thread, 0);
}

template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::take_other(int thread, const Action& action, Value value) {
  add(thread, action, kNoEvent, value, 0);
  return advance(thread, value);
}

// A graph of its own, without what was added since the read. The write of the frame comes next, at one of its places.
template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::begin_revisit(const Frame& of, EventId read) {
  const int thread = of.thread;
  const Action action = of.action;
  ++depth_;
  if (depth_ == graphs_.size()) graphs_.emplace_back(M::kClocks);
  ExecutionGraph& before = graphs_[depth_ - 1];
  const Count* prefix = before.size(thread) ? before.clock(before.last(thread), kCausal) : nullptr;
  graph().restrict(before, before.event(read).stamp, prefix);
  before.unsettle(graph());
  is_behind_ = true;
  Frame frame{Way::Revisit, depth_, graph().size(), thread, action, read, {}, options_.size(), 0, 0};
  const int above = std::max(floor(known_to(thread), action.location), floor(known_to(thread_of(read), true), action.location));
  options_for_write(thread, action, above);
  ++result_.revisits;
  if (options_.size() == frame.options) {
    ++result_.given_up;
    return false;
  }
  follow();
  frame.outlook = executor_.outlook(thread_of(read), action.value);
  if (frame.outlook.blocks) {
    options_.resize(frame.options);
    return false;
  }
  return begin(frame, false);
}

template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::take_revisit(const Frame& frame, int place) {
  const int reader = thread_of(frame.revisited);
  const EventId write = add(frame.thread, frame.action, kNoEvent, frame.action.value, place);
  graph().set_source(frame.revisited, write, frame.action.value, frame.outlook.order, frame.outlook.updates);
  model_.learn(graph(), frame.revisited);
  if (M::kHasRaces && manner_.races == Races::End) look_for_race(frame.revisited);
  if (!is_newest(frame.action.location, place) &&
      !(model_.is_consistent(graph(), write) && model_.is_consistent(graph(), frame.revisited)))
    return give_up();
  advance(frame.thread, 0);
  return advance(reader, frame.action.value);
}

// What conflicts with the event, is plain or meets a plain one, and does not happen before it.
template <class M, Executor E, class L>
  requires Listener<L>
void Explorer<M, E, L>::look_for_race(EventId id) {
  const Event& event = graph().event(id);
  if (ending_.races() || !(event.reads() || event.writes())) return;
  const Count* known = graph().clock(id, kHappens);
  const auto meet = [&](EventId other) {
    if (ExecutionGraph::knows(known, other) || (!event.is_plain() && !graph().event(other).is_plain())) return;
    ending_.race[0] = other;
    ending_.race[1] = id;
    finish(manner_.races == Races::End);
  };
  for (const EventId write : graph().writes(event.location)) meet(write);
  if (event.writes())
    for (const EventId read : graph().reads(event.location)) meet(read);
}

}  // namespace memfence::graphs
