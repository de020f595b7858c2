#include "cluster/partition.hpp"

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

}  // namespace memfence
