// What a process does at one moment: a step, or all steps from the one that takes the bus lock to the one that releases it.
//
// docs/theory/criteria.md, "What counts as one step". A lock region without a loop is a single locked edge by the time it
// comes here. One with a loop has too many ways through it for that; but nobody else accesses memory meanwhile, so that each
// way is one event, which makes all its accesses at once. Of the ways with the same accesses to the same state one stands
// for all. A way that gets stuck inside, or stays there for ever, is no event: it comes after all that others ever do.
#pragma once

#include <memory>
#include <set>
#include <span>

#include "attacks/end_event.hpp"
#include "execution/accesses.hpp"
#include "search/limits.hpp"

namespace memfence {

class AtomicEvents {
 public:
  // Gives up, with some events only, when the budget is spent.
  AtomicEvents(const Machine& m, std::shared_ptr<Budget> budget) : machine_(m), budget_(std::move(budget)) {}

  // Whether some process is within its region: no moment at which others could look.
  static bool is_within_one(const Machine& m, const Work& w) { return m.lock_slot >= 0 && w[m.lock_slot] != 0; }

  // Calls `visit(Tried, accesses, steps)` for each event that begins with the edge, and with what was read so far for each
  // attempt that blocks. Meanwhile the state behind it is in `w`, which is left as it was; the accesses may be changed.
  template <class Memory, class Visit>
  void each(Work& w, int number, Memory& memory, Visit&& visit) {
    const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
    const std::size_t mark = w.mark();
    Tried tried = try_edge(machine_, edge, w, memory, accesses_);
    if (!is_within_one(machine_, w)) {
      const HelperStep step{number, tried.completed};
      visit(tried, accesses_, std::span<const HelperStep>(&step, 1));
    } else {
      go_through(w, mark, tried, number, memory, visit);
    }
    w.rollback(mark);
  }

 private:
  // A place inside a region, and how it was reached.
  struct Place {
    std::vector<Value> slots;
    std::vector<Access> accesses;
    std::size_t from;
    int edge;
  };

  template <class Memory, class Visit>
  void go_through(Work& w, std::size_t mark, const Tried& first, int number, Memory& memory, Visit&& visit);
  static std::vector<Access> joined(const std::vector<Access>& before, const std::vector<Access>& more);
  std::vector<Value> key(const Work& w, const std::vector<Access>& accesses) const;
  static std::vector<HelperStep> steps_to(const std::vector<Place>& places, std::size_t at, HelperStep last);

  const Machine& machine_;
  std::shared_ptr<Budget> budget_;
  std::vector<Access> accesses_;
};

// Breadth-first over the places inside, so that the first way to an event is a shortest one.
template <class Memory, class Visit>
void AtomicEvents::go_through(Work& w, std::size_t mark, const Tried& first, int number, Memory& memory, Visit&& visit) {
  const int process = machine_.edges[static_cast<std::size_t>(number)].process;
  const int location_slot = machine_.processes[static_cast<std::size_t>(process)].location_slot;
  const std::size_t slots = machine_.slots.size();
  std::vector<Place> places;
  std::set<std::vector<Value>> seen;
  const auto arrive = [&](std::vector<Access> accesses, std::size_t from, int edge) {
    if (seen.insert(key(w, accesses)).second) places.push_back({{w.data(), w.data() + slots}, std::move(accesses), from, edge});
  };
  const auto blocked = [&](std::vector<Access>& accesses) { visit(Tried{}, accesses, std::span<const HelperStep>()); };
  std::vector<Access> at_once = joined({}, accesses_);
  if (!first.completed) return blocked(at_once);
  arrive(std::move(at_once), 0, number);
  for (std::size_t at = 0; at < places.size() && !budget_->is_spent(places.size()); ++at) {
    const auto location = static_cast<std::size_t>(places[at].slots[static_cast<std::size_t>(location_slot)]);
    for (const int next : machine_.leaving[static_cast<std::size_t>(process)][location]) {
      w.rollback(mark);
      for (std::size_t slot = 0; slot < slots; ++slot) w.set(static_cast<int>(slot), places[at].slots[slot]);
      const Tried tried = try_edge(machine_, machine_.edges[static_cast<std::size_t>(next)], w, memory, accesses_);
      std::vector<Access> accesses = joined(places[at].accesses, accesses_);
      const bool is_inside = is_within_one(machine_, w);
      if (tried.failed && is_inside) {
        w.rollback(mark);
        keep_reads(accesses);
      } else if (!tried.happened || (is_inside && !tried.completed)) {
        blocked(accesses);
        continue;
      } else if (is_inside) {
        arrive(std::move(accesses), at, next);
        continue;
      }
      if (seen.insert(key(w, accesses)).second) visit(tried, accesses, steps_to(places, at, {next, tried.completed}));
    }
  }
}

}  // namespace memfence
