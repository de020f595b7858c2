#include "memfence/known_cycles.hpp"

namespace memfence {

SymbolicRow KnownCycles::local_key(const SymbolicRow& row, int process) const {
  const Process& p = machine_.processes[static_cast<std::size_t>(process)];
  const auto begin = static_cast<std::ptrdiff_t>(p.location_slot), end = static_cast<std::ptrdiff_t>(p.pending_slot + 1 + p.registers);
  SymbolicRow key{process};
  key.insert(key.end(), row.begin() + begin, row.begin() + end);
  return key;
}

SymbolicRow KnownCycles::base_key(const SymbolicRow& row, int process) const {
  SymbolicRow key = row;
  key[machine_.slots.size() + static_cast<std::size_t>(process)] = -1;
  return key;
}

void KnownCycles::remember(const SymbolicRow& row, int number) {
  const Cycle& cycle = cycles_[number];
  auto& list = cycle.is_local ? local_[local_key(row, cycle.process)] : base_[base_key(row, cycle.process)];
  for (const int other : list)
    if (cycles_[other].growth == cycle.growth && cycles_[other].events == cycle.events) return;
  if (list.size() < kMostCycles) list.push_back(number);
}

std::vector<int> KnownCycles::candidates(const SymbolicRow& row, int process) const {
  std::vector<int> found;
  const bool bus_free = machine_.lock_slot < 0 || row[static_cast<std::size_t>(machine_.lock_slot)] == 0;
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

std::optional<KnownCycles::Saturated> KnownCycles::saturate(const SymbolicRow& row, int process, Language context,
                                                            const std::vector<int>& first) {
  std::vector<int> wanted = first;
  for (const int c : candidates(row, process))
    if (std::find(wanted.begin(), wanted.end(), c) == wanted.end()) wanted.push_back(c);
  if (wanted.empty()) return std::nullopt;
  std::vector<int> chosen = wanted;
  std::sort(chosen.begin(), chosen.end());
  std::optional<Language> language = cycles_.saturate(context, chosen, row.data());
  if (!language) {  // not all together: as many as fit, in order
    chosen.clear();
    for (const int c : wanted) {
      std::vector<int> more = chosen;
      more.insert(std::upper_bound(more.begin(), more.end(), c), c);
      const auto larger = cycles_.saturate(context, more, row.data());
      if (!larger) continue;
      language = larger;
      chosen = std::move(more);
    }
    if (!language) return std::nullopt;
  }
  const std::vector<Value> memory(row.begin(), row.begin() + machine_.variables);
  return Saturated{*language, cycles_.set_of({chosen, memory})};
}

}  // namespace memfence
