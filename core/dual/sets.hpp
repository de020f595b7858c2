// Sets of states of one process, interned: equal sets have equal numbers, and every question about a set is answered once.
//
// A constraint of the search names a set of states for each process instead of one state: it stands for all choices, and
// so do its predecessors. "Anywhere" is then one constraint, not one for each location, and steps that lead from many
// states into the set are taken together. All states of a set have the same owned messages. Sets are closed backwards
// under silent steps: what can go on into the set by itself belongs to it.
#pragma once

#include <memory>
#include <optional>

#include "dual/process.hpp"

namespace memfence::dual {

using Set = int;
inline constexpr Set empty_set = -1;

class Sets {
 public:
  // One label by which the set can be entered.
  struct Move {
    int label;
    Set after;                  // the states of the set that it leads to
    std::vector<Set> before;    // where it comes from, one set for each sequence of owned messages
  };

  Sets(const LocalGraph& local, const ProcessGraph& graph, std::size_t registers, std::size_t exclusive)
      : local_(local), graph_(graph), exclusive_at_(1 + registers), exclusive_(exclusive) {}

  // The set of these states, closed; they must own the same messages. empty_set for none.
  Set close(std::vector<int> states);

  const std::vector<int>& states(Set set) const { return data(set).states; }
  int owned(Set set) const { return data(set).owned; }
  const Facts& owned_facts(Set set) const { return graph_.owned_facts[static_cast<std::size_t>(owned(set))]; }
  int distance(Set set) const { return data(set).distance; }
  // A bit for every bucket of states that the set has none of: where a set includes another, its bits are among the other's.
  std::uint64_t missing(Set set) const { return data(set).missing; }
  // The value that memory holds in the exclusive variable, where all states of the set agree.
  std::optional<Value> known(Set set, int place) const { return data(set).known[static_cast<std::size_t>(place)]; }

  bool includes(Set larger, Set smaller);
  const std::vector<Move>& moves(Set set);
  // The sets before the deletion of an oldest owned message, one for each such message.
  const std::vector<Set>& undeleted(Set set);
  // The states of the set in which the exclusive variable has the value.
  Set restrict(Set set, int place, Value value);
  Set unite(Set a, Set b);
  // Whether nothing but plain loads leads into the set, also after owned messages were put back.
  bool loads_only(Set set);
  bool has_initial(Set set, const std::vector<int>& initial) const;

  const ProcessGraph& graph() const { return graph_; }
  const Label& label(int number) const { return graph_.labels[static_cast<std::size_t>(number)]; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t count() const { return data_.size(); }

 private:
  struct Data {
    std::vector<int> states;
    int owned = 0;
    int distance = 0;
    std::uint64_t missing = 0;
    std::vector<std::optional<Value>> known;
    signed char loads_only = -1;  // not computed yet
    bool has_moves = false, has_undeleted = false;
    std::vector<Move> moves;
    std::vector<Set> undeleted;
    std::map<std::pair<int, Value>, Set> restricted;
  };

  Data& data(Set set) { return *data_[static_cast<std::size_t>(set)]; }
  const Data& data(Set set) const { return *data_[static_cast<std::size_t>(set)]; }
  Set intern(std::vector<int> states);
  Value exclusive_value(int state, int place) const;

  const LocalGraph& local_;
  const ProcessGraph& graph_;
  std::size_t exclusive_at_, exclusive_;
  std::vector<std::unique_ptr<Data>> data_;
  std::unordered_map<std::vector<int>, Set, HashNumbers> numbers_;
  std::unordered_map<std::uint64_t, bool> included_;
  std::uint64_t bytes_ = 0;
};

}  // namespace memfence::dual
