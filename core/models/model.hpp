// Which memory model, as a value from outside; and the policy that it names.
#pragma once

#include "models/pso.hpp"
#include "models/sc.hpp"
#include "models/tso.hpp"

namespace memfence {

enum class ModelKind : std::int32_t { Sc, Tso, TsoPerVariable, Pso };

struct Model {
  ModelKind kind;
  int bound;
};

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
