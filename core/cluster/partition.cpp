#include "cluster/partition.hpp"

#include "attacks/attack_observer.hpp"
#include "attacks/known_values.hpp"
#include "attacks/race_observer.hpp"
#include "cluster/partition_of.hpp"
#include "models/semantics.hpp"

namespace memfence {

std::unique_ptr<Partition> partition_for_safety(std::shared_ptr<const Machine> machine, const Model& model, bool reduce,
                                                const SafetyQuery& query, const PartitionSize& size,
                                                std::uint64_t memory_bytes) {
  const Machine& m = *machine;
  return with_semantics(m, model, [&]<MemoryModel Semantics>(Semantics semantics) -> std::unique_ptr<Partition> {
    SafetyObserver observer(m, query.bad, query.stop_on_failure, query.stop_on_deadlock, query.final_values);
    return std::make_unique<PartitionOf<Semantics, SafetyObserver>>(std::move(machine), std::move(semantics), reduce,
                                                                    std::move(observer), size, memory_bytes);
  });
}

namespace {

template <bool triangular>
std::unique_ptr<Partition> for_races(std::shared_ptr<const Machine> machine, const PartitionSize& size,
                                     std::uint64_t memory_bytes) {
  using Observer = RaceObserver<triangular>;
  using Semantics = Observer::Semantics;
  static const Limits none;  // one state takes no time here
  const Machine& m = *machine;
  return std::make_unique<PartitionOf<Semantics, Observer>>(std::move(machine), Semantics(m), false,
                                                            Observer(m, std::make_shared<Budget>(none)), size, memory_bytes);
}

// Walks and chains from one state can take all the memory there is. For time, whoever asked ends this process.
struct MemoryBudget {
  explicit MemoryBudget(std::uint64_t bytes) { limits.memory_bytes = bytes; }
  Limits limits;
  Budget budget{limits};
};

}  // namespace

std::unique_ptr<Partition> partition_for_races(std::shared_ptr<const Machine> machine, bool triangular,
                                               const PartitionSize& size, std::uint64_t memory_bytes) {
  return triangular ? for_races<true>(std::move(machine), size, memory_bytes)
                    : for_races<false>(std::move(machine), size, memory_bytes);
}

std::unique_ptr<Partition> partition_for_attacks(std::shared_ptr<const Machine> machine, AttackSearch search,
                                                 const PartitionSize& size, std::uint64_t memory_bytes) {
  search.changing = changing_variables(*machine);
  search.by_text = search.collect;  // else the text was asked before the search was shared
  const Machine& m = *machine;
  const auto limited = std::make_shared<MemoryBudget>(memory_bytes);
  AttackObserver observer(m, search, std::shared_ptr<Budget>(limited, &limited->budget));
  return std::make_unique<PartitionOf<Sc, AttackObserver>>(std::move(machine), Sc(m), false, std::move(observer), size,
                                                           memory_bytes);
}

}  // namespace memfence
