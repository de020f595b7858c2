#include "attacks/race_observer.hpp"

namespace memfence {

template <bool triangular>
void RaceObserver<triangular>::expand(Work& w, Index index) {
  if (race_ || AtomicEvents::is_within_one(*machine_, w)) return;
  const Machine& m = *machine_;
  next_.clear();
  for (int p = 0; p < static_cast<int>(m.processes.size()); ++p) {
    const auto location = static_cast<std::size_t>(w[m.processes[static_cast<std::size_t>(p)].location_slot]);
    for (const int number : m.leaving[static_cast<std::size_t>(p)][location]) {
      const int last = static_cast<int>(w[m.processes[static_cast<std::size_t>(p)].pending_slot]) - 1;
      events_.each(w, number, semantics_,
                   [&](const Tried& tried, std::vector<Access>& accesses, std::span<const HelperStep> steps) {
                     // A step that waits for what it reads is about to read it, again and again: a data race with whoever writes it.
                     // For a triangular one the read must be possible, with the value that is about to change.
                     if (!tried.happened && triangular) return;
                     if (!tried.happened) keep_reads(accesses);
                     const std::size_t first = next_.size();
                     for (const Access& a : accesses) next_.push_back({p, number, a});
                     const bool is_locked = m.edges[static_cast<std::size_t>(number)].locked || steps.size() > 1;
                     if (triangular && !is_locked) note_exposed(last, first);
                   });
    }
  }
  for (const Next& a : next_)
    for (const Next& b : next_) {
      if (a.process == b.process || a.access.address != b.access.address) continue;
      if constexpr (triangular) {
        if (a.unfenced < 0 || (a.writes_only && !b.access.writes())) continue;
        race_ = Race{index, a.process, a.edge, b.process, b.edge, a.access.address, a.unfenced};
      } else {
        if (!a.access.writes() || (a.access.is_locked() && b.access.is_locked())) continue;
        race_ = Race{index, a.process, a.edge, b.process, b.edge, a.access.address};
      }
      return;
    }
}

// A read is exposed while a store of its process to another variable is unfenced. The stores of the same step count, too:
// all of them commit after its reads; and a store is exposed to any access until the step's last store has committed.
template <bool triangular>
void RaceObserver<triangular>::note_exposed(int last, std::size_t first) {
  int last_store = -1;
  for (std::size_t i = first; i < next_.size(); ++i)
    if (next_[i].access.writes()) last_store = static_cast<int>(i);
  for (std::size_t i = first; i < next_.size(); ++i) {
    Next& next = next_[i];
    const int variable = next.access.address;
    if (next.access.writes()) {
      last = variable;
      if (static_cast<int>(i) < last_store) next.unfenced = next_[static_cast<std::size_t>(last_store)].access.address;
      continue;
    }
    bool stored_inside = false;
    for (std::size_t j = first; j < i; ++j) stored_inside |= next_[j].access.writes() && next_[j].access.address == variable;
    next.writes_only = true;
    if (last >= 0 && last != variable)
      next.unfenced = last;
    else if (last_store >= 0 && !stored_inside)
      next.unfenced = next_[static_cast<std::size_t>(last_store)].access.address;
  }
}

template class RaceObserver<true>;
template class RaceObserver<false>;

}  // namespace memfence
