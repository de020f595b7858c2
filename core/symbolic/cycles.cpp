#include "symbolic/cycles.hpp"

#include <algorithm>

namespace memfence {

int Cycles::add(Cycle cycle) {
  cycles_.push_back(std::move(cycle));
  return static_cast<int>(cycles_.size()) - 1;
}

int Cycles::set_of(Set set) {
  const auto [place, is_new] = set_numbers_.emplace(std::move(set), static_cast<int>(sets_.size()));
  if (is_new) sets_.push_back(place->first);
  return place->second;
}

Language Cycles::growth_of(const std::vector<int>& cycles) {
  Language growth = kNoWord;
  for (const int c : cycles) growth = languages_.unite(growth, (*this)[c].growth);
  return growth;
}

std::optional<Language> Cycles::grow(Language context, const std::vector<Event>& events, int process, const Value* memory,
                                     int depth) {
  Language grown = kDrained;
  for (const Event& e : events) {
    if (e.kind != EventKind::Saturate && e.process != process) continue;
    switch (e.kind) {
      case EventKind::Append: grown = languages_.append(grown, e.what); break;
      case EventKind::Load: {
        const auto after = grow_load(context, grown, e, memory);
        if (!after) return std::nullopt;
        grown = *after;
        break;
      }
      case EventKind::Commit:
        // Only what this path appended may leave: the context must neither hold the variable nor a separator before it.
        if (!languages_.commits_out_of_order()) return std::nullopt;
        if (languages_.has_separator(context) || languages_.mentions(context, languages_.entry(e.what).variable))
          return std::nullopt;
        grown = languages_.committed(grown, e.what);
        if (grown == kNoWord) return std::nullopt;
        break;
      case EventKind::Saturate: {
        const auto after = grow_saturated(context, grown, e, process, memory, depth);
        if (!after) return std::nullopt;
        grown = *after;
        break;
      }
      case EventKind::Barrier: return std::nullopt;
    }
  }
  return grown;
}

// Words of `grown` that hold the variable decide alone; for the others all words of the context must agree.
std::optional<Language> Cycles::grow_load(Language context, Language grown, const Event& e, const Value* memory) {
  const bool from_memory = memory ? memory[e.what] == e.value : e.from_memory;
  const Languages::Loads& loads = languages_.loads(grown, e.what);
  bool with_none = false;
  if (loads.none != kNoWord) {
    const Language found = languages_.restricted(context, e.what, e.value, from_memory);
    if (found != context && found != kNoWord) return std::nullopt;
    with_none = found == context;
  }
  const Language after = languages_.restricted(grown, e.what, e.value, with_none);
  if (after == kNoWord) return std::nullopt;
  return after;
}

std::optional<Language> Cycles::grow_saturated(Language context, Language grown, const Event& e, int process,
                                               const Value* memory, int depth) {
  if (depth >= kDeepest) return std::nullopt;
  const std::vector<int>& cycles = set(e.what).cycles;
  const Value* inner = memory ? memory : set(e.what).memory.data();
  if (e.process != process) {  // repeated steps of this process among those of another: they must change nothing
    const Language whole = languages_.concatenate(context, grown);
    for (const int c : cycles)
      if (grow(whole, (*this)[c].events, process, (*this)[c].is_local ? inner : nullptr, depth + 1) != kDrained)
        return std::nullopt;
    return grown;
  }
  const Language growth = growth_of(cycles);
  const Language whole = languages_.iterate(languages_.concatenate(context, grown), growth);
  for (const int c : cycles)
    if (!holds(whole, (*this)[c], inner, depth + 1)) return std::nullopt;
  return languages_.iterate(grown, growth);
}

Language Cycles::repeatable(Language growth, const std::vector<Event>& events, int process) {
  std::vector<int> stored;
  for (const Event& e : events) {
    if (e.process != process || growth == kNoWord) continue;
    if (e.kind == EventKind::Append && e.what != kSeparator) stored.push_back(languages_.entry(e.what).variable);
    if (e.kind == EventKind::Load && std::find(stored.begin(), stored.end(), e.what) == stored.end())
      growth = languages_.restricted(growth, e.what, e.value, true);
  }
  return growth;
}

bool Cycles::holds(Language context, const Cycle& cycle, const Value* memory, int depth) {
  const auto growth = grow(context, cycle.events, cycle.process, cycle.is_local ? memory : nullptr, depth);
  return growth && languages_.includes(*growth, cycle.growth);
}

std::optional<Language> Cycles::saturate(Language context, const std::vector<int>& cycles, const Value* memory) {
  const Language whole = languages_.settle(languages_.iterate(context, growth_of(cycles)));
  for (const int c : cycles)
    if (!holds(whole, (*this)[c], memory, 0)) return std::nullopt;
  return whole;
}

}  // namespace memfence
