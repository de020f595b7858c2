// What an attack comes to, as data: the access that takes effect too early, and which fences would have stopped it.
#pragma once

#include <compare>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/expression.hpp"

namespace memfence {

enum class Criterion : std::int32_t { Persistence, RobustTso, RobustPso };

using Accesses = std::vector<std::pair<int, bool>>;  // (variable, is a store), sorted

struct EndEvent {
  int delayed;  // variable of the first delayed store
  int early;    // how many stores of the first step reached memory before it
  Accesses accesses;           // what the end event reads from and writes to memory
  Accesses chain;              // robustness: these, and all that the walk accessed in memory before
  std::vector<int> crossed;    // sorted transition numbers of the attacker
  std::vector<int> separable;  // PSO: those of `crossed` behind which an sfence would do
  std::vector<int> edges;      // the walk: edges completed, then the one in which the end event happens
  std::vector<std::pair<int, Value>> memory;  // variables that the walk changed in memory
  int separated_at = -1;                      // PSO: from this edge of the walk on stores stay pending, as if separated

  bool has_store() const {
    for (const auto& access : accesses)
      if (access.second) return true;
    return false;
  }
  friend auto operator<=>(const EndEvent&, const EndEvent&) = default;
};

// What a set of fences must hit: mfences behind `all`, or sfences behind `some` of them; sorted.
struct Crossed {
  std::vector<int> all, some;
  bool is_within(const Crossed& other) const;
  friend bool operator==(const Crossed&, const Crossed&) = default;
};

// (attacker, all, some): a clause that is to be hit anyway, so that attacks across it are of no interest.
using KnownClause = std::tuple<int, std::vector<int>, std::vector<int>>;

// A step of another process.
struct HelperStep {
  int edge;
  bool completed;  // else only its first transition happened: the local steps behind it block
};

}  // namespace memfence
