#include "symbolic/known_cycles.hpp"

#include <algorithm>

namespace memfence {

KnownCycles::Key KnownCycles::local_key(const Value* row, int process) const {
  const Process& p = machine_.processes[static_cast<std::size_t>(process)];
  Key key{process};
  key.insert(key.end(), row + p.location_slot, row + p.pending_slot + 1 + p.registers);
  return key;
}

KnownCycles::Key KnownCycles::base_key(const Value* row, int process) const {
  Key key(row, row + machine_.slots.size() + machine_.processes.size());
  key[machine_.slots.size() + static_cast<std::size_t>(process)] = -1;
  return key;
}

void KnownCycles::remember(const Value* row, int number) {
  const Cycle& cycle = cycles_[number];
  const auto p = static_cast<std::size_t>(cycle.process);
  is_place_[p][static_cast<std::size_t>(row[machine_.processes[p].location_slot])] = 1;
  auto& list = cycle.is_local ? local_[local_key(row, cycle.process)] : base_[base_key(row, cycle.process)];
  for (const int other : list)
    if (cycles_[other].growth == cycle.growth && cycles_[other].events == cycle.events) return;
  if (list.size() < kMostCycles) list.push_back(number);
}

std::vector<int> KnownCycles::candidates(const Value* row, int process) const {
  std::vector<int> found;
  const auto p = static_cast<std::size_t>(process);
  if (!is_place_[p][static_cast<std::size_t>(row[machine_.processes[p].location_slot])]) return found;
  const bool bus_free = machine_.lock_slot < 0 || row[machine_.lock_slot] == 0;
  if (!local_.empty() && bus_free) {
    const auto place = local_.find(local_key(row, process));
    if (place != local_.end()) found = place->second;
  }
  if (!base_.empty()) {
    const auto place = base_.find(base_key(row, process));
    if (place != base_.end()) found.insert(found.end(), place->second.begin(), place->second.end());
  }
  return found;
}

std::optional<KnownCycles::Saturated> KnownCycles::saturate(const Value* row, int process, Language context,
                                                            const std::vector<int>& first) {
  std::vector<int> wanted = first;
  for (const int c : candidates(row, process))
    if (std::find(wanted.begin(), wanted.end(), c) == wanted.end()) wanted.push_back(c);
  if (wanted.empty()) return std::nullopt;
  std::vector<int> chosen = wanted;
  std::sort(chosen.begin(), chosen.end());
  std::optional<Language> language = cycles_.saturate(context, chosen, row);
  if (!language) {  // not all together: as many as fit, in order
    chosen.clear();
    for (const int c : wanted) {
      std::vector<int> more = chosen;
      more.insert(std::upper_bound(more.begin(), more.end(), c), c);
      const auto larger = cycles_.saturate(context, more, row);
      if (!larger) continue;
      language = larger;
      chosen = std::move(more);
    }
    if (!language) return std::nullopt;
  }
  const std::vector<Value> memory(row, row + machine_.variables);
  return Saturated{*language, cycles_.set_of({chosen, memory})};
}

}  // namespace memfence
