#include "attacks/torn.hpp"

#include <set>

namespace memfence {

namespace {

int plain_stores(const Edge& edge) {
  const auto takes_lock = [](const Op& op) { return op.kind == OpKind::Lock; };
  if (edge.locked || edge.partner >= 0 || std::any_of(edge.ops.begin(), edge.ops.end(), takes_lock)) return 0;
  return static_cast<int>(
      std::count_if(edge.ops.begin(), edge.ops.end(), [](const Op& op) { return op.kind == OpKind::Store && !op.locked; }));
}

}  // namespace

TornSteps::TornSteps(const Machine& m, std::shared_ptr<Budget> budget) : machine_(m), sc_(m), events_(m, std::move(budget)) {
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
    bool stores = false;
    events_.each(w, number, sc_, [&](const Tried& tried, const std::vector<Access>& accesses, std::span<const HelperStep>) {
      const auto is_plain = [](const Access& a) { return a.writes() && !a.is_locked(); };
      stores |= tried.happened && std::any_of(accesses.begin(), accesses.end(), is_plain);
    });
    if (stores) return number;
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
    std::vector<HelperStep> steps;
  };
  const Process& p = machine_.processes[static_cast<std::size_t>(process)];
  const auto local = [&] {
    return std::vector<Value>(w.data() + p.location_slot, w.data() + p.pending_slot + 1 + p.registers);
  };
  const std::vector<Value> torn(w.data(), w.data() + machine_.variables);
  std::vector<Visit> visits{{local(), true, true, 0, {}}};
  std::set<std::pair<std::vector<Value>, int>> seen{{visits[0].local, 3}};
  std::optional<std::size_t> end;
  const auto take = [&](std::size_t at, const Tried& tried, const std::vector<Access>& accesses,
                        std::span<const HelperStep> steps) {
    if (!tried.happened || end) return;
    bool stores = false, as_before = true, as_after = true;
    for (const Access& a : accesses) {
      const auto v = static_cast<std::size_t>(a.address);
      stores |= a.writes();
      as_before &= torn[v] == before[v];
      as_after &= torn[v] == after[v];
    }
    const bool fits_before = visits[at].fits_before && as_before;
    const bool fits_after = (visits[at].fits_before || visits[at].fits_after) && as_after;
    const bool is_end = stores || (!fits_before && !fits_after);
    if (!is_end && (!tried.completed || !seen.insert({local(), 2 * fits_before + fits_after}).second)) return;
    if (is_end) end = visits.size();
    visits.push_back({local(), fits_before, fits_after, at, {steps.begin(), steps.end()}});
  };
  const std::size_t mark = w.mark();
  for (std::size_t at = 0; at < visits.size() && !end; ++at) {
    for (int i = 0; i < 2 + p.registers; ++i) w.set(p.location_slot + i, visits[at].local[static_cast<std::size_t>(i)]);
    const auto location = static_cast<std::size_t>(w[p.location_slot]);
    for (const int number : machine_.leaving[static_cast<std::size_t>(process)][location])
      events_.each(w, number, sc_,
                   [&](const Tried& tried, const std::vector<Access>& accesses, std::span<const HelperStep> steps) {
                     take(at, tried, accesses, steps);
                   });
  }
  w.rollback(mark);
  for (std::size_t at = end.value_or(0); at != 0; at = visits[at].from)
    walk.insert(walk.begin(), visits[at].steps.begin(), visits[at].steps.end());
  return end.has_value();
}

}  // namespace memfence
