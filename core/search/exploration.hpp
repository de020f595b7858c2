// One finished explicit search, whatever its memory model: what happened, and how to get to any state it found.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "machine/layout.hpp"
#include "models/model.hpp"
#include "search/limits.hpp"
#include "search/outcome.hpp"

namespace memfence {

struct SafetyQuery {
  int bad = -1;  // expression
  bool stop_on_failure = true;
  bool stop_on_deadlock = false;
  std::vector<int> final_values;  // expressions
};

struct FinalState {
  std::vector<Value> values;
  std::uint64_t count;
  Index index;
};

class Exploration {
 public:
  virtual ~Exploration() = default;
  // See PathFinder.
  virtual Path path(Index index, const std::vector<Step>& more) const = 0;
  virtual std::vector<Value> values(Index index) const = 0;
  // Every visited state, as values of all slots: for tests, and for comparing whole reachable sets.
  virtual std::vector<std::vector<Value>> all_values() const = 0;
  // Visit every state once, packed as `layout` says.
  virtual void for_each(const std::function<void(const Word*)>& visit) const = 0;
  virtual const Layout& layout() const = 0;

  Stop stop = Stop::None;
  SearchStats stats;
  std::optional<Finding> finding;
  std::vector<FinalState> final_states;
  std::uint64_t final_count = 0;
  std::vector<std::uint8_t> taken;  // of each edge of the machine, whether some run takes it
  bool is_compact = false;  // only the bare states were kept
};

std::unique_ptr<Exploration> explore_safety(std::shared_ptr<const Machine> machine, const Model& model, bool reduce,
                                            const SafetyQuery& query, const Limits& limits, int threads);

}  // namespace memfence
