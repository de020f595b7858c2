#include "attacks/atomic_event.hpp"

#include <algorithm>

namespace memfence {

// The accesses of an event: of each variable the first read, unless the event itself wrote it before, and the first write.
std::vector<Access> AtomicEvents::joined(const std::vector<Access>& before, const std::vector<Access>& more) {
  std::vector<Access> all = before;
  for (Access access : more) {
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const Access& other) {
      return other.address == access.address && (other.writes() || access.reads());
    });
    if (is_known) continue;
    access.kind = access.reads() ? AccessKind::LockedLoad : AccessKind::LockedStore;
    all.push_back(access);
  }
  return all;
}

std::vector<Value> AtomicEvents::key(const Work& w, const std::vector<Access>& accesses) const {
  std::vector<Value> values(w.data(), w.data() + machine_.slots.size());
  std::vector<Value> used(static_cast<std::size_t>(machine_.variables), 0);
  for (const Access& access : accesses) used[static_cast<std::size_t>(access.address)] |= access.writes() ? 2 : 1;
  values.insert(values.end(), used.begin(), used.end());
  return values;
}

std::vector<HelperStep> AtomicEvents::steps_to(const std::vector<Place>& places, std::size_t at, HelperStep last) {
  std::vector<HelperStep> steps{last};
  for (; at != 0; at = places[at].from) steps.push_back({places[at].edge, true});
  steps.push_back({places[0].edge, true});
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace memfence
