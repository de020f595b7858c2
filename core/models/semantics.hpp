// From the name of a memory model to its policy.
#pragma once

#include "models/model.hpp"
#include "models/pso.hpp"
#include "models/sc.hpp"
#include "models/tso.hpp"

namespace memfence {

// Calls `use(semantics)` with the policy that `model` names.
template <class Use>
auto with_semantics(const Machine& m, const Model& model, Use&& use) {
  switch (model.kind) {
    case ModelKind::Sc: return use(Sc(m));
    case ModelKind::Tso: return use(Tso(m, model.bound, false));
    case ModelKind::TsoPerVariable: return use(Tso(m, model.bound, true));
    case ModelKind::Pso: break;
  }
  return use(Pso(m, model.bound));
}

}  // namespace memfence
