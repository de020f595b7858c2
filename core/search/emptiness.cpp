#include "search/emptiness.hpp"

namespace memfence {

BuchiResult find_accepted_run(std::shared_ptr<const Machine> machine, const Model& model, const BuchiQuery& query,
                              const Limits& limits) {
  const Machine& m = *machine;
  return with_semantics(m, model, [&]<MemoryModel Semantics>(Semantics semantics) {
    return Emptiness<Semantics>(m, std::move(semantics), query, limits).run();
  });
}

}  // namespace memfence
