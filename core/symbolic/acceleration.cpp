#include "symbolic/acceleration.hpp"

#include <algorithm>

namespace memfence {

bool Acceleration::apply_known(Reached& reached) {
  bool changed = false;
  for (int p = 0; p < processes(); ++p) {
    const auto saturated = known_.saturate(reached.row.data(), p, language(reached.row.data(), p), {});
    if (!saturated || saturated->language == language(reached.row.data(), p)) continue;
    set_language(reached.row, p, saturated->language);
    reached.events.push_back({EventKind::Saturate, p, saturated->set, 0, false});
    ++count_;
    changed = true;
  }
  return changed;
}

bool Acceleration::detect(Reached& reached, int group, int& from) {
  if (states_.is_empty(group)) return false;
  Path path{{reached.row.data(), reached.events, reached.mover}};
  for (int at = from; at >= 0; at = states_.from(at)) {
    if (states_.group(at) == group)
      for (int p = 0; p < processes(); ++p)
        if (accelerate(reached, from, at, p, path)) return true;
    path.push_back({states_.row(at), states_.events(at), states_.mover(at)});
  }
  return false;
}

bool Acceleration::accelerate(Reached& reached, int& from, int start, int p, const Path& path) {
  const Value *then = states_.row(start), *now = reached.row.data();
  const Language before = language(then, p), after = language(now, p);
  if (before == after) return false;
  bool same_base = true;
  for (int q = 0; q < processes(); ++q) {
    if (q == p || language(then, q) == language(now, q)) continue;
    same_base = false;
    if (!languages_.includes(language(now, q), language(then, q))) return false;
  }
  if (!may_repeat(path, p)) return false;
  Cycle cycle{p, {}, kDrained, is_local(path, p)};
  for (auto step = path.rbegin(); step != path.rend(); ++step)
    cycle.events.insert(cycle.events.end(), step->events.begin(), step->events.end());
  const auto growth = cycles_.grow(before, cycle.events, p);
  if (!growth || *growth == kDrained) return false;
  if (languages_.settle(languages_.concatenate(before, *growth)) != after) return false;
  cycle.growth = *growth;
  if (!same_base) return repeat_onwards(reached, std::move(cycle));
  if (repeat(reached, from, start, path, cycle)) return true;
  cycle.growth = cycles_.repeatable(cycle.growth, cycle.events, p);
  if (cycle.growth == *growth || cycle.growth == kNoWord || cycle.growth == kDrained) return false;
  return repeat(reached, from, start, path, std::move(cycle));
}

// Back on the same base: all that the cycle can do from its start, its start included. Where that does not include what
// was reached, it is still enough: what was reached follows from it. It must be new then, or nothing is gained.
bool Acceleration::repeat(Reached& reached, int& from, int start, const Path& path, Cycle cycle) {
  const int p = cycle.process;
  const Value* then = states_.row(start);
  const Language after = language(reached.row.data(), p);
  const int number = cycles_.add(std::move(cycle));
  const auto saturated = known_.saturate(then, p, language(then, p), {number});
  if (!saturated || saturated->language == language(then, p) || saturated->language == after) return false;
  std::vector<Value> row(then, then + steps_.width());
  set_language(row, p, saturated->language);
  if (!languages_.includes(saturated->language, after) && states_.covers(states_.group(start), row.data())) return false;
  known_.remember(then, number);
  if (cycles_[number].is_local) remember_rotations(path, p);
  reached.row = std::move(row);
  reached.events = {{EventKind::Saturate, p, saturated->set, 0, false}};
  from = start;
  ++count_;
  return true;
}

// Other buffers can hold more now than where the cycle started: it can be repeated, but only from here on.
bool Acceleration::repeat_onwards(Reached& reached, Cycle cycle) {
  const int p = cycle.process;
  const int number = cycles_.add(std::move(cycle));
  const auto language_after = cycles_.saturate(language(reached.row.data(), p), {number}, reached.row.data());
  if (!language_after || *language_after == language(reached.row.data(), p)) return false;
  set_language(reached.row, p, *language_after);
  const std::vector<Value> memory(reached.row.begin(), reached.row.begin() + machine_.variables);
  reached.events.push_back({EventKind::Saturate, p, cycles_.set_of({{number}, memory}), 0, false});
  ++count_;
  return true;
}

// A local cycle can be entered at each of its states.
void Acceleration::remember_rotations(const Path& path, int p) {
  for (std::size_t split = 1; split < path.size() && path.size() <= kLongestRotated; ++split) {
    Cycle cycle{p, {}, kDrained, true};
    const auto add = [&](std::size_t begin, std::size_t end) {  // the path lists its latest step first
      for (std::size_t i = begin; i > end; --i)
        cycle.events.insert(cycle.events.end(), path[i - 1].events.begin(), path[i - 1].events.end());
    };
    add(split, 0);
    add(path.size(), split);
    const auto growth = cycles_.grow(language(path[split].row, p), cycle.events, p);
    if (!growth || *growth == kDrained) continue;
    cycle.growth = *growth;
    const Language repeatable = cycles_.repeatable(*growth, cycle.events, p);
    known_.remember(path[split].row, cycles_.add(cycle));
    if (repeatable == *growth || repeatable == kNoWord || repeatable == kDrained) continue;
    cycle.growth = repeatable;
    known_.remember(path[split].row, cycles_.add(std::move(cycle)));
  }
}

// The papers' load equivalence, on the single word that a path without accelerations appends: cheap, and it spares most
// automata. A load that comes before the first store to its variable must find again what the last one leaves behind.
bool Acceleration::may_repeat(const Path& path, int p) const {
  std::map<int, Value> stored, loaded;
  for (auto step = path.rbegin(); step != path.rend(); ++step)
    for (const Event& e : step->events) {
      if (e.process != p) continue;
      if (e.kind == EventKind::Barrier) return false;
      if (e.kind == EventKind::Commit && !languages_.commits_out_of_order()) return false;
      if (e.kind == EventKind::Saturate || e.kind == EventKind::Commit) return true;
      if (e.kind == EventKind::Load && !stored.contains(e.what)) loaded.emplace(e.what, e.value);
      if (e.kind == EventKind::Append && e.what != kSeparator)
        stored[languages_.entry(e.what).variable] = languages_.entry(e.what).value;
    }
  return std::all_of(loaded.begin(), loaded.end(), [&](const auto& load) {
    const auto last = stored.find(load.first);
    return last == stored.end() || last->second == load.second;
  });
}

bool Acceleration::is_local(const Path& path, int p) const {
  if (!steps_.is_self_contained(p)) return false;
  if (machine_.lock_slot >= 0 && path[0].row[machine_.lock_slot] != 0) return false;
  for (const Step& step : path) {
    if (step.mover != p) return false;
    for (const Event& e : step.events) {
      if (e.process != p || e.kind == EventKind::Commit) return false;
      if (e.kind == EventKind::Saturate)
        for (const int c : cycles_.set(e.what).cycles)
          if (!cycles_[c].is_local) return false;
    }
  }
  return true;
}

}  // namespace memfence
