// Whose turn it is in the explorer, who waits, and when all is over.
#pragma once

#include <algorithm>

#include "graphs/explorer.hpp"

namespace memfence::graphs {

// The second part of an update comes before everything. Then writes and fences, so that reads find them there, then reads;
// at last those that would wait: others may write what ends that.
template <class M, Executor E, class L>
  requires Listener<L>
int Explorer<M, E, L>::choose_thread(Action& action) {
  enum Rank { Completes, Other, Reads, MayWait, Nobody };
  int chosen = -1;
  Rank best = Nobody;
  for (int t = 0; t < executor_.threads(); ++t) {
    if (t < graph().threads() && graph().waits(t)) continue;
    const Action next = executor_.next(t);
    if (next.kind == ActionKind::Failed) finish(ending_.failed = true);
    if (!next.is_event()) continue;
    Rank rank = next.kind == ActionKind::Read ? Reads : next.is_update ? Completes : Other;
    if (rank >= best) continue;
    if (rank == Reads && would_wait(t, next.location)) rank = MayWait;
    if (rank >= best) continue;
    chosen = t;
    action = next;
    best = rank;
    if (best == Completes) break;
  }
  return chosen;
}

// Whether the newest write is one on which the thread would wait.
template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::would_wait(int thread, int location) {
  const bool is_known = location < graph().locations();
  const int newest = is_known ? static_cast<int>(graph().writes(location).size()) : 0;
  const EventId write = newest == 0 ? kInitial : graph().write_at(location, newest);
  return executor_.outlook(thread, value_of(write, location)).blocks;
}

// Whether somebody writes what the thread would wait on.
template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::could_wait(int thread, int location) {
  if (at(location) >= written_.size()) written_.resize(at(location) + 1);
  Values& known = written_[at(location)];
  known.were_asked = true;
  return std::any_of(known.values.begin(), known.values.end(),
                     [&](Value value) { return executor_.outlook(thread, value).blocks; });
}

template <class M, Executor E, class L>
  requires Listener<L>
void Explorer<M, E, L>::learn_value(int location, Value value) {
  if (at(location) >= written_.size()) written_.resize(at(location) + 1);
  Values& known = written_[at(location)];
  const auto place = std::lower_bound(known.values.begin(), known.values.end(), value);
  if (place != known.values.end() && *place == value) return;
  known.values.insert(place, value);
  has_news_ |= known.were_asked;
}

// Where the execution only has to come to an end: a thread that waits and would go on by now does.
template <class M, Executor E, class L>
  requires Listener<L>
bool Explorer<M, E, L>::wake_one() {
  for (int t = 0; t < graph().threads(); ++t) {
    if (!graph().waits(t)) continue;
    const EventId id = graph().last(t);
    const int location = graph().event(id).location;
    const EventId source = graph().write_at(location, static_cast<int>(graph().writes(location).size()));
    const Value value = value_of(source, location);
    const Outlook outlook = executor_.outlook(t, value);
    if (outlook.blocks) continue;
    woken_.push_back({id, graph().event(id).order});
    graph().set_source(id, source, value, outlook.order, outlook.updates);
    model_.learn(graph(), id);
    return advance(t, value);
  }
  return false;
}

template <class M, Executor E, class L>
  requires Listener<L>
void Explorer<M, E, L>::end() {
  ending_.is_stuck = true;
  for (int t = 0; t < executor_.threads(); ++t) {
    if (t < graph().threads() && graph().waits(t)) {
      const int location = graph().event(graph().last(t)).location;
      const int newest = static_cast<int>(graph().writes(location).size());
      ending_.waits = true;
      ending_.is_stuck &= executor_.outlook(t, value_of(graph().write_at(location, newest), location)).blocks;
      continue;
    }
    const ActionKind kind = executor_.next(t).kind;
    ending_.waits |= kind == ActionKind::Waiting;
    ending_.is_void |= kind == ActionKind::Void || kind == ActionKind::Over;
    ending_.is_cut |= kind == ActionKind::Cut;
  }
  ending_.is_stuck &= ending_.waits;
  if (M::kHasRaces && manner_.races == Races::Branch)
    for (const EventId id : graph().events()) look_for_race(id);
  if (ending_.is_cut)
    ++result_.cut;
  else if (ending_.is_complete())
    ++result_.executions;
  else
    ++result_.blocked;
  if (!listener_.ended(graph(), ending_)) result_.stop = Stop::Found;
}

}  // namespace memfence::graphs
