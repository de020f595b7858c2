#include "attacks/torn.hpp"

#include <set>

namespace memfence {

namespace {

int plain_stores(const Edge& edge) {
  if (edge.locked || edge.partner >= 0) return 0;
  return static_cast<int>(
      std::count_if(edge.ops.begin(), edge.ops.end(), [](const Op& op) { return op.kind == OpKind::Store && !op.locked; }));
}

}  // namespace

TornSteps::TornSteps(const Machine& m) : machine_(m), sc_(m) {
  for (const Process& p : m.processes) possible_.emplace_back(static_cast<std::size_t>(p.locations), 0);
  for (const Edge& e : m.edges)
    if (plain_stores(e) > 1) possible_[static_cast<std::size_t>(e.process)][static_cast<std::size_t>(e.source)] = 1;
}

std::optional<Torn> TornSteps::find(Work& w, int process) {
  const Value location = w[machine_.processes[static_cast<std::size_t>(process)].location_slot];
  for (const int number : machine_.leaving[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)]) {
    const Edge& edge = machine_.edges[static_cast<std::size_t>(number)];
    if (plain_stores(edge) < 2) continue;
    const std::size_t mark = w.mark();
    const bool happened = try_edge(machine_, edge, w, sc_, accesses_).happened;
    w.rollback(mark);
    if (!happened) continue;
    std::vector<Written> stores;
    for (const Access& a : accesses_)
      if (a.writes()) stores.push_back({a.address, static_cast<Value>(a.value)});
    auto found = tear(w, edge, stores);
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<Torn> TornSteps::tear(Work& w, const Edge& edge, const std::vector<Written>& stores) {
  const std::vector<Value> before(w.data(), w.data() + machine_.variables);
  std::vector<Value> after = before;
  for (const Written& s : stores) after[static_cast<std::size_t>(s.variable)] = s.value;
  const int number = static_cast<int>(&edge - machine_.edges.data());
  const std::size_t mark = w.mark();
  std::optional<Torn> found;
  for (std::size_t early = 1; early < stores.size() && !found; ++early) {
    const int committed = stores[early - 1].variable, delayed = stores[early].variable;
    for (int q = 0; q < static_cast<int>(machine_.processes.size()) && !found; ++q) {
      if (q == edge.process) continue;
      if (early == 1)
        if (const int storing = storing_edge(w, q); storing >= 0)
          found = Torn{number, 1, committed, delayed, true, {{storing, false}}};
    }
    w.set(committed, stores[early - 1].value);
    for (int q = 0; q < static_cast<int>(machine_.processes.size()) && !found; ++q) {
      std::vector<HelperStep> walk;
      if (q != edge.process && contradicts(w, q, before, after, walk))
        found = Torn{number, static_cast<int>(early), committed, delayed, false, std::move(walk)};
    }
  }
  w.rollback(mark);
  return found;
}

int TornSteps::storing_edge(Work& w, int process) {
  const Value location = w[machine_.processes[static_cast<std::size_t>(process)].location_slot];
  for (const int number : machine_.leaving[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)]) {
    const std::size_t mark = w.mark();
    const bool happened = try_edge(machine_, machine_.edges[static_cast<std::size_t>(number)], w, sc_, accesses_).happened;
    w.rollback(mark);
    const bool stores =
        std::any_of(accesses_.begin(), accesses_.end(), [](const Access& a) { return a.writes() && !a.is_locked(); });
    if (happened && stores) return number;
  }
  return -1;
}

// What was read so far fits an SC run if all of it fits the memory before the torn step, or a first part that and the rest
// the memory after it. `fits_before` and `fits_after` say which of the two is still open.
bool TornSteps::contradicts(Work& w, int process, const std::vector<Value>& before, const std::vector<Value>& after,
                            std::vector<HelperStep>& walk) {
  struct Visit {
    std::vector<Value> local;
    bool fits_before, fits_after;
    std::size_t from;
    HelperStep step;
  };
  const Process& p = machine_.processes[static_cast<std::size_t>(process)];
  const auto local = [&] {
    std::vector<Value> values(w.data() + p.location_slot, w.data() + p.pending_slot + 1 + p.registers);
    if (machine_.lock_slot >= 0) values.push_back(w[machine_.lock_slot]);
    return values;
  };
  std::vector<Visit> visits{{local(), true, true, 0, {}}};
  std::set<std::pair<std::vector<Value>, int>> seen{{visits[0].local, 3}};
  const std::size_t mark = w.mark();
  for (std::size_t at = 0; at < visits.size(); ++at) {
    const Visit here = visits[at];
    for (int i = 0; i < 2 + p.registers; ++i) w.set(p.location_slot + i, here.local[static_cast<std::size_t>(i)]);
    if (machine_.lock_slot >= 0) w.set(machine_.lock_slot, here.local.back());
    const auto location = static_cast<std::size_t>(w[p.location_slot]);
    for (const int number : machine_.leaving[static_cast<std::size_t>(process)][location]) {
      const std::size_t inner = w.mark();
      const Tried tried = try_edge(machine_, machine_.edges[static_cast<std::size_t>(number)], w, sc_, accesses_);
      const Visit next{local(), false, false, at, {number, tried.completed}};
      w.rollback(inner);
      if (!tried.happened) continue;
      bool stores = false, as_before = true, as_after = true;
      for (const Access& a : accesses_) {
        const auto v = static_cast<std::size_t>(a.address);
        stores |= a.writes();
        as_before &= w[a.address] == before[v];
        as_after &= w[a.address] == after[v];
      }
      const bool fits_before = here.fits_before && as_before;
      const bool fits_after = (here.fits_before || here.fits_after) && as_after;
      if (stores || (!fits_before && !fits_after)) {
        walk = {next.step};
        for (std::size_t i = at; i != 0; i = visits[i].from) walk.insert(walk.begin(), visits[i].step);
        w.rollback(mark);
        return true;
      }
      if (!tried.completed || !seen.insert({next.local, 2 * fits_before + fits_after}).second) continue;
      visits.push_back({next.local, fits_before, fits_after, at, next.step});
    }
  }
  w.rollback(mark);
  return false;
}

}  // namespace memfence
