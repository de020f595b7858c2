// One finished explicit search, whatever its memory model: what happened, and how to get to any state it found.
#pragma once

#include <memory>

#include "models/model.hpp"
#include "search/breadth_first.hpp"

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
  // See BreadthFirst::path.
  virtual std::vector<Step> path(Index index, const std::vector<Step>& more, std::size_t& start,
                                 std::vector<int>& who) const = 0;
  virtual std::vector<Value> values(Index index) const = 0;
  // Every visited state, as values of all slots: for tests, and for comparing whole reachable sets.
  virtual std::vector<std::vector<Value>> all_values() const = 0;

  Stop stop = Stop::None;
  SearchStats stats;
  std::optional<Finding> finding;
  std::vector<FinalState> final_states;
  std::uint64_t final_count = 0;
};

template <MemoryModel Semantics, SearchObserver Observer>
class ExplorationOf : public Exploration {
 public:
  ExplorationOf(std::shared_ptr<const Machine> machine, Semantics semantics, bool reduce, Observer observer,
                const Limits& limits, int threads)
      : machine_(std::move(machine)), search(*machine_, std::move(semantics), reduce, std::move(observer), limits, threads) {
    stop = search.run();
    stats = search.stats();
    finding = search.finding();
  }
  std::vector<Step> path(Index index, const std::vector<Step>& more, std::size_t& start, std::vector<int>& who) const override {
    return search.path(index, more, start, who);
  }
  std::vector<Value> values(Index index) const override { return search.values(index); }
  std::vector<std::vector<Value>> all_values() const override {
    std::vector<std::vector<Value>> all;
    search.for_each_state([&](Index index) { all.push_back(search.values(index)); });
    return all;
  }

 private:
  std::shared_ptr<const Machine> machine_;

 public:
  BreadthFirst<Semantics, Observer> search;
};

std::unique_ptr<Exploration> explore_safety(std::shared_ptr<const Machine> machine, const Model& model, bool reduce,
                                            const SafetyQuery& query, const Limits& limits, int threads);

}  // namespace memfence
