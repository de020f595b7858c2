// The second half of a robustness attack: can the other processes, running under SC, carry the end event of the attacker
// to an access of the delayed variable, every step of theirs happening after the end event?
//
// A step counts as happening after if its process already took part in the chain, or if it conflicts with an access in the
// chain (same variable, at least one store). Steps without access are free. The question depends only on the other
// processes, memory, the chain so far and the delayed variable: that is a node here, and nodes are shared by all attacks of
// the whole exploration. The attacker stands still meanwhile; a node from where it goes on is the start of a new question.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "attacks/atomic_event.hpp"
#include "execution/accesses.hpp"
#include "models/sc.hpp"
#include "search/limits.hpp"
#include "search/state_set.hpp"

namespace memfence {

class ChainSearch {
 public:
  // Every search of it gives up, with an answer that means nothing, when the budget is spent.
  ChainSearch(const Machine& m, std::shared_ptr<Budget> budget);

  using Start = std::vector<std::pair<int, bool>>;  // (variable, is a store)

  // The node for a walk of `attacker`, which delays a store to `delayed`, with these accesses; the others and memory are as
  // in `w`. Returns kNoIndex where a look at the program text already rules the attack out, even if the walk goes on to
  // access `ahead` (variables modulo 64, as bits). `after`: the node from where the walk went on.
  Index root(const Work& w, int attacker, int delayed, const Start& accesses, std::uint64_t ahead = 0, Index after = kNoIndex);

  // The nodes behind `root` where the others have met what the attacker is about to access: they wrote one of `read`, or
  // accessed one of `written` (variables modulo 64, as bits). Those with each of them on the way, and how to get there.
  struct Met {
    Index node;
    std::vector<HelperStep> steps;
  };
  std::vector<Met> meetings(Index root, std::uint64_t read, std::uint64_t written);
  // The others and memory as they are at the node.
  void restore(Index node, Work& w) const;

  // Explore every node not yet explored, up to the first goal; whether there was one. Then `goal_parent` has the last step.
  bool reach_goal();
  Index goal_parent() const { return goal_parent_; }
  Index parent(Index node) const { return states_.parent(node); }
  // Whether the chain can be closed from `root`. Explores what that takes and remembers the answer for every node on the
  // way; not to be mixed with `reach_goal`.
  bool wins(Index root);
  // A shortest way from `root` to an access of the delayed variable.
  std::vector<HelperStep> path(Index root) const;

  std::uint64_t nodes() const { return states_.count(); }
  std::uint64_t transitions() const { return transitions_; }

 private:
  static std::vector<Slot> node_slots(const Machine& m);
  bool possible_by_text(int attacker, int delayed, const Start& accesses, std::uint64_t ahead);
  int attacker_slot() const { return base_; }
  int delayed_slot() const { return base_ + 1; }
  int member_slot(int process) const { return base_ + 2 + process; }
  int kind_slot(int variable) const { return base_ + 2 + static_cast<int>(machine_.processes.size()) + variable; }

  struct Child {
    HelperStep step;
    bool goal;
    std::uint64_t loads, stores;             // variables modulo 64, as bits
    std::vector<HelperStep> others = {};  // where the step begins a lock region: those behind it
  };
  struct Children {
    std::vector<Child> steps;
    std::vector<Word> packed;  // the nodes they lead to, one after the other
  };
  // Every chain step from the packed node.
  void children(const Word* node, Children& out) const;
  void add_child(Work& w, int process, const Tried& tried, const std::vector<Access>& accesses,
                 std::span<const HelperStep> steps, Children& out) const;
  static void put_before(std::vector<HelperStep>& steps, const Child& child);
  void normalise(Work& w) const;
  void mark_winning(Index node);

  const Machine& machine_;
  std::shared_ptr<Budget> budget_;
  int base_;
  Sc sc_;
  Layout layout_;
  CountedStates states_;
  std::uint64_t explored_ = 0, transitions_ = 0;
  Index goal_parent_ = kNoIndex;
  // `wins`: which nodes win, as far as known, and for the others a list of those that have a step to them.
  static constexpr std::uint32_t kEnd = 0xFFFFFFFFu;
  struct Link {
    Index from;
    std::uint32_t next;
  };
  std::vector<bool> winning_;
  std::vector<std::uint32_t> first_link_;
  std::vector<Link> links_;
  Children found_;
  mutable AtomicEvents events_;
  std::vector<std::set<int>> text_reads_, text_writes_;  // per process
  std::map<std::tuple<int, int, Start, std::uint64_t>, bool> text_answers_;
  std::vector<std::uint64_t> read_bits_, write_bits_;  // the same as bits
  mutable Work work_;
};

}  // namespace memfence
