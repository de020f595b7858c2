// Looks for attacks in every SC-reachable state: persistence and robustness.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "attacks/attack.hpp"
#include "attacks/chain.hpp"
#include "attacks/criteria.hpp"
#include "attacks/open_walks.hpp"
#include "attacks/torn.hpp"
#include "attacks/walk_text.hpp"
#include "search/observer.hpp"

namespace memfence {

class AttackObserver : public NoObserver {
 public:
  // With `collect`, the whole space is searched and `attacks()` has one attack for each clause (attacker, transitions
  // crossed, those of them where an sfence will do) that includes no other one; else the first attack ends the search.
  // Where the budget is spent, what was found is not all. With `every_torn`, torn steps are no clause that ends anything:
  // they are listed as well, one per state, as many as there is room for. Attacks across all of a `known` clause are of no
  // interest. Processes that are alike (docs/theory/criteria.md, "Processes that are alike") share their clauses: there is
  // one attack for all of them.
  AttackObserver(const Machine& m, const AttackSearch& search, std::shared_ptr<Budget> budget);
  AttackObserver(const AttackObserver& other)
      : AttackObserver(*other.machine_, other.search_, other.budget_, other.is_quiet_, other.done_) {}
  AttackObserver(AttackObserver&&) = default;
  AttackObserver& operator=(AttackObserver&&) = default;

  void expand(Work& w, Index index);
  bool has_finding() const { return is_done() || budget_->why() != Stop::None || (!collect_ && !attacks_.empty()); }
  // Why nothing more is looked for, if that is so though there may be more: the budget is spent.
  Stop cut_short() const { return budget_->why(); }
  // By the text, every further attack crosses a clause that is known. No state can add anything.
  bool is_done() const { return *done_; }
  // Processes that may have attacks beyond those that are known, by the text.
  std::vector<int> open();
  void merge(AttackObserver& other, const StateOrder& states);
  // After the search: what was found, smallest clause first.
  std::vector<Attack> attacks();
  std::uint64_t chain_nodes() const { return (chain_ ? chain_->nodes() : 0) + merged_nodes_; }

 private:
  AttackObserver(const Machine& m, const AttackSearch& search, std::shared_ptr<Budget> budget,
                 std::vector<std::uint8_t> is_quiet, std::shared_ptr<std::atomic<bool>> done);

  // Attacks of processes that are alike count as one: each of these can make it.
  int first_alike(int process) const {
    return search_.alike.empty() ? process : search_.alike[static_cast<std::size_t>(process)];
  }
  KnownClause clause_of(const Attack& a) const { return {first_alike(a.attacker), a.end.crossed, a.end.separable}; }

  void expand_persistence(Work& w, Index index);
  void expand_robustness(Work& w, Index index);
  // Robustness: the walk stands at `pause`, and the node is the chain so far.
  struct Paused {
    Pause pause;
    Index node;
    std::vector<Attack::Interval> intervals;
  };
  void try_ends(Work& w, Index index, int attacker, const std::vector<EndEvent>& ends, const Paused* after);
  void note_pauses(Work& w, const std::vector<Pause>& pauses, const Paused* after);
  // Let the others act and the walks go on, in every way that makes a difference.
  void go_on(Index index);
  // Whether a walk has something ahead, and attacks that are not known.
  bool may_go_on(const Pause& pause) const;
  bool find_goal();
  void write_memory(Work& w, const std::vector<std::pair<int, Value>>& written);
  void note_writers(Work& w);
  void note_changes(const Work& w, std::size_t mark, int process);
  // How another process can change the variable now.
  std::vector<HelperStep> closing_steps(Work& w, int attacker, int variable);
  void learn(int attacker, const Crossed& clause);
  void add(Attack&& attack);
  bool is_quiet(int process);
  bool is_found_quiet(int process) const { return is_quiet_[static_cast<std::size_t>(process)]; }
  void note_whether_done();
  bool is_known(int attacker, const EndEvent& end) const {
    return collect_ && walk_->is_known(attacker, {end.crossed, end.separable});
  }

  const Machine* machine_;
  AttackSearch search_;
  Criterion criterion_ = search_.criterion;
  bool collect_ = search_.collect;
  bool every_torn_ = search_.every_torn;
  std::shared_ptr<Budget> budget_;
  std::shared_ptr<std::atomic<bool>> done_;
  std::unique_ptr<WalkText> text_;
  std::unique_ptr<OpenWalks> open_;
  std::unique_ptr<AttackWalk> walk_;
  std::unique_ptr<WalkMemo> memo_;
  std::unique_ptr<ChainSearch> chain_;
  std::unique_ptr<TornSteps> torn_;
  Sc sc_;
  std::map<KnownClause, Attack> attacks_;
  static constexpr std::size_t kMostTorn = 1000;
  std::vector<Attack> torn_attacks_;
  std::vector<Paused> paused_;             // to be continued, in the present state
  std::set<std::vector<Value>> continued_;  // what was, in any
  Work resumed_;
  std::map<Index, Attack> first_of_root_;  // roots not yet explored to the end
  std::uint64_t merged_nodes_ = 0;
  struct Writers {
    int first = -1, another = -1;
    bool has_other_than(int process) const { return first >= 0 && (first != process || another >= 0); }
  };
  std::vector<std::uint8_t> is_quiet_;  // per process: it has no attacks but those that are known, by the text
  std::vector<std::uint8_t> is_open_;   // per process: the text has shown no such thing, and nothing was learnt since
  std::vector<Writers> writers_;  // per variable: processes that can change it now, two of them at most
  std::unique_ptr<AtomicEvents> events_;
};

}  // namespace memfence
