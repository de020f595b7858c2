// The second half of a robustness attack: can the other processes, running under SC, carry the end event of the attacker
// to an access of the delayed variable, every step of theirs happening after the end event?
//
// A step counts as happening after if its process already took part in the chain, or if it conflicts with an access in the
// chain (same variable, at least one store). Steps without access are free. The question depends only on the other
// processes, memory, the end event's variable and the delayed variable: that is a node here, and nodes are shared by all
// attacks of the whole exploration.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "memfence/accesses.hpp"
#include "memfence/state_set.hpp"
#include "memfence/torn.hpp"

namespace memfence {

class ChainSearch {
 public:
  explicit ChainSearch(const Machine& m);

  using Start = std::vector<std::pair<int, bool>>;  // (variable, is a store)

  // The node for an end event of `attacker`, which delays a store to `delayed`, with these accesses; the others and memory
  // are as in `w`. Returns kNoIndex where a look at the program text already rules the attack out.
  Index root(const Work& w, int attacker, int delayed, const Start& accesses);

  // Explore every node not yet explored. With `stop_at_goal`, end at the first goal and return true.
  bool explore(bool stop_at_goal);
  // After a complete exploration: the nodes from which the chain can be closed.
  std::vector<bool> winning() const;
  bool is_goal_reached() const { return goal_reached_; }
  // The root from which the first goal was reached.
  Index goal_root() const;
  // A shortest way from `root` to an access of the delayed variable.
  std::vector<HelperStep> path(Index root) const;

  std::uint64_t nodes() const { return count_; }
  std::uint64_t transitions() const { return transitions_; }
  std::uint64_t bytes() const { return states_.bytes() + links_.size() * sizeof(links_[0]); }

 private:
  static std::vector<Slot> node_slots(const Machine& m);
  bool possible_by_text(int attacker, int delayed, const Start& accesses);
  int attacker_slot() const { return base_; }
  int delayed_slot() const { return base_ + 1; }
  int member_slot(int process) const { return base_ + 2 + process; }
  int kind_slot(int variable) const { return base_ + 2 + static_cast<int>(machine_.processes.size()) + variable; }

  struct Child {
    std::vector<Word> packed;
    HelperStep step;
    bool goal;
  };
  // Every chain step from the packed node.
  void children(const Word* node, std::vector<Child>& out) const;
  void normalise(Work& w) const;

  const Machine& machine_;
  int base_;
  Sc sc_;
  Layout layout_;
  StateSet states_;
  std::uint64_t count_ = 0, explored_ = 0, transitions_ = 0;
  bool goal_reached_ = false;
  Index goal_parent_ = kNoIndex;
  std::vector<std::pair<Index, Index>> links_;  // node -> child, for winning()
  std::vector<bool> closes_;                    // nodes with a step to the goal
  std::vector<std::set<int>> text_reads_, text_writes_;  // per process
  std::map<std::tuple<int, int, Start>, bool> text_answers_;
  mutable Work work_;
};

}  // namespace memfence
