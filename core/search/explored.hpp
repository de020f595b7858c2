// An Exploration that is made by running a breadth-first search to its end.
#pragma once

#include "search/breadth_first.hpp"
#include "search/exploration.hpp"

namespace memfence {

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
  Path path(Index index, const std::vector<Step>& more) const override { return search.path(index, more); }
  std::vector<Value> values(Index index) const override { return search.values(index); }
  std::vector<std::vector<Value>> all_values() const override {
    std::vector<std::vector<Value>> all;
    search.for_each_state([&](Index index) { all.push_back(search.values(index)); });
    return all;
  }
  void for_each(const std::function<void(const Value*)>& visit) const override { search.for_each_values(visit); }

 private:
  std::shared_ptr<const Machine> machine_;

 public:
  BreadthFirst<Semantics, Observer> search;
};

}  // namespace memfence
