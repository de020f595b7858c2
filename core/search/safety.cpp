#include "models/semantics.hpp"
#include "search/explored.hpp"

namespace memfence {

std::unique_ptr<Exploration> explore_safety(std::shared_ptr<const Machine> machine, const Model& model, bool reduce,
                                            const SafetyQuery& query, const Limits& limits, int threads) {
  const Machine& m = *machine;
  return with_semantics(m, model, [&]<MemoryModel Semantics>(Semantics semantics) -> std::unique_ptr<Exploration> {
    SafetyObserver observer(m, query.bad, query.stop_on_failure, query.stop_on_deadlock, query.final_values);
    auto exploration = std::make_unique<ExplorationOf<Semantics, SafetyObserver>>(machine, std::move(semantics), reduce,
                                                                                  std::move(observer), limits, threads);
    for (const auto& [values, seen] : exploration->observer().seen())
      exploration->final_states.push_back({values, seen.count, seen.index});
    exploration->final_count = exploration->observer().finals();
    return exploration;
  });
}

}  // namespace memfence
