// Which memory model, as a value from outside.
#pragma once

#include <cstdint>

namespace memfence {

enum class ModelKind : std::int32_t { Sc, Tso, TsoPerVariable, Pso };

struct Model {
  ModelKind kind;
  int bound;
};

}  // namespace memfence
