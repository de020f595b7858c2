#include "certificate/events.hpp"

#include <algorithm>

namespace memfence::certificate {

namespace {

constexpr std::size_t kMostInside = 1'000'000;

// Of each variable the first read, unless it was written before, and the first write: nothing else of an event matters.
std::vector<Access> joined(std::vector<Access> before, const std::vector<Access>& more) {
  for (const Access& access : more) {
    const bool is_known = std::any_of(before.begin(), before.end(), [&](const Access& one) {
      return one.variable == access.variable && (one.writes || !access.writes);
    });
    if (!is_known) before.push_back(access);
  }
  return before;
}

// A step that waits reads what it waits for; what it stores, it reads itself.
void keep_what_it_waits_for(std::vector<Access>& made) {
  std::erase_if(made, [all = made](const Access& access) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Access& other) { return other.writes && other.variable == access.variable; });
  });
}

}  // namespace

bool Events::for_each(const Number* state, int process, int number, const Visit& visit) {
  const Outcome outcome = steps_.take(state, process, number, &made_);
  if (outcome != Outcome::Done || !is_held(program_, steps_.after())) return tell(outcome, made_, false, visit);
  places_.clear();
  seen_.clear();
  arrive(joined({}, made_));
  return go_through(process, visit);
}

bool Events::for_each_of(const Number* state, int process, const std::function<bool(int, const Event&)>& visit) {
  for (const int number :
       program_.processes[static_cast<std::size_t>(process)].leaving[static_cast<std::size_t>(state[process])])
    if (!for_each(state, process, number,
                  [&](const Event& event) { return event.outcome == Outcome::Blocked || visit(number, event); }))
      return false;
  return true;
}

bool Events::tell(Outcome outcome, std::vector<Access>& made, bool is_region, const Visit& visit) const {
  if (outcome == Outcome::Failed) keep_reads(made);
  if (outcome == Outcome::Blocked) keep_what_it_waits_for(made);
  return visit({outcome, made, steps_.after(), is_region});
}

// The step just taken leads to a place inside the region.
void Events::arrive(std::vector<Access> made) {
  Place place{{steps_.after(), steps_.after() + places_of_a_state_}, std::move(made)};
  std::vector<Number> key, accessed;
  for (const Access& access : place.made) accessed.push_back(2 * access.variable + (access.writes ? 1 : 0));
  std::sort(accessed.begin(), accessed.end());
  key = place.state;
  key.insert(key.end(), accessed.begin(), accessed.end());
  if (!seen_.insert(std::move(key)).second) return;
  if (places_.size() >= kMostInside) throw Unsupported("there are too many ways through a region that holds the bus");
  places_.push_back(std::move(place));
}

bool Events::go_through(int process, const Visit& visit) {
  const Process& mover = program_.processes[static_cast<std::size_t>(process)];
  for (std::size_t at = 0; at < places_.size(); ++at) {
    const Place here = places_[at];
    for (const int number : mover.leaving[static_cast<std::size_t>(here.state[static_cast<std::size_t>(process)])]) {
      const Outcome outcome = steps_.take(here.state.data(), process, number, &made_);
      std::vector<Access> made = joined(here.made, made_);
      if (outcome == Outcome::Done && is_held(program_, steps_.after()))
        arrive(std::move(made));
      else if (!tell(outcome, made, true, visit))
        return false;
    }
  }
  return true;
}

}  // namespace memfence::certificate
