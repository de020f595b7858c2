#include "stateless/stale_search.hpp"

#include <algorithm>

#include "execution/recorded_edge.hpp"

namespace memfence {

std::optional<StaleStep> StaleSearch::find(int number, Work& work, Monitor& monitor) {
  decided_.clear();
  if (!search(machine_.edges[static_cast<std::size_t>(number)], work, monitor)) return std::nullopt;
  StaleStep found{number, {}, events_};
  for (const Decided& d : decided_)
    if (d.seen < monitor.history(static_cast<std::uint32_t>(d.variable)).size())
      found.reads.push_back({d.variable, d.seen, d.value});
  return found;
}

// Run the edge with what is decided; the first load of another variable is decided next, in every way that TSO allows.
// Which variables are loaded may itself depend on the values, so the edge is run again for each decision.
bool StaleSearch::search(const Edge& edge, Work& work, Monitor& monitor) {
  const std::size_t mark = work.mark();
  for (const Decided& d : decided_) work.set(d.variable, d.value);
  accesses_.clear();
  const auto note = [&](const Access& a) { accesses_.push_back(a); };
  const Outcome outcome = run_recorded(machine_, edge, work, memory_, note).outcome;
  work.rollback(mark);
  events_.clear();
  append_events(accesses_, shape_of(edge), static_cast<int>(machine_.processes.size()), events_);
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const MemoryEvent& e = events_[i];
    const auto variable = static_cast<int>(e.address);
    if (e.op != MemoryOp::Load || Monitor::is_own(events_, i)) continue;
    if (std::any_of(decided_.begin(), decided_.end(), [&](const Decided& d) { return d.variable == variable; })) continue;
    const std::vector<PastWrite>& history = monitor.history(e.address);
    const std::size_t least = monitor.least_seen(events_, i);
    const Value now = work[variable];
    for (std::size_t seen = history.size() + 1; seen-- > least;) {
      const Value value = seen == history.size() ? now : static_cast<Value>(history[seen].before);
      decided_.push_back({variable, seen, value});
      if (search(edge, work, monitor)) return true;
      decided_.pop_back();
    }
    return false;
  }
  return (outcome == Outcome::Done || outcome == Outcome::Failed) && judge(monitor);
}

// Every stale variable has to be a plain load of the final step: an interlocked access is never stale.
bool StaleSearch::judge(Monitor& monitor) {
  seen_.assign(events_.size(), 0);
  std::size_t stale = 0, found = 0;
  for (const Decided& d : decided_) stale += d.seen < monitor.history(static_cast<std::uint32_t>(d.variable)).size();
  if (stale == 0) return false;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].op != MemoryOp::Load || Monitor::is_own(events_, i)) continue;
    for (const Decided& d : decided_) {
      if (d.variable != static_cast<int>(events_[i].address)) continue;
      seen_[i] = d.seen;
      found += d.seen < monitor.history(events_[i].address).size();
    }
  }
  return found >= stale && monitor.is_borderline(events_, seen_);
}

}  // namespace memfence
