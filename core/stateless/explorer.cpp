#include "stateless/explorer.hpp"

#include "stateless/model_executor.hpp"

namespace memfence {

ExploreResult explore_stateless(const Machine& machine, const ExploreOptions& options, const Limits& limits) {
  return Explorer<ModelExecutor>(options, limits, machine).run();
}

}  // namespace memfence
