// The fast checker of invariants: the conditions of `certificates/checker/invariant.py`, in the same order.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "certificate/ends.hpp"
#include "certificate/events.hpp"
#include "certificate/finding.hpp"
#include "certificate/overtaking.hpp"
#include "certificate/row_set.hpp"
#include "certificate/steps.hpp"

namespace memfence::certificate {

// What is asked of every state beside that the set is closed. All but state-robustness is about states of SC.
enum class Criterion : std::uint8_t { None, Persistent, RaceFree, RobustTso, RobustPso, StateRobust };

// What is asked of single states, expressions as canonical text. `final`: the condition on final states, then what it
// observes; `expected` is the value that the condition has to have in every final state: 0, 1, or -1 for any. Where
// `final` is not empty, each final state has to have one of `outcomes`.
struct Asked {
  std::string bad;
  bool deadlock = false;
  std::vector<std::string> final;
  int expected = -1;
  std::vector<std::vector<Number>> outcomes;
  Criterion criterion = Criterion::None;
  bool may_fail = false;  // steps that fail are none that lead out
  LeftOut left_out;
  std::size_t most_bytes = SIZE_MAX;  // for what a criterion has to search beside the states themselves
};

class Checker {
 public:
  Checker(const std::string& program, const Model& model, int capacity, const Asked& asked);

  std::size_t width() const { return layout_.width(); }
  std::size_t states() const { return rows_.size(); }
  std::size_t bytes() const { return rows_.bytes(); }
  // Take over a block of rows, byte planes one behind the other.
  Finding add(const unsigned char* block, std::size_t size);
  // Check the whole set.
  Finding check();
  // The rows of all states that steps lead to, in order: what an abridged set stands for, for checkers that want every state.
  // bad_alloc where they need more than `most_bytes`.
  std::vector<std::string> reachable(std::size_t most_bytes);

  struct Taken {
    Step step;
    Outcome outcome;
    std::string after;  // row; empty where the step fails, or leads to a state without a row
  };
  // Every step that is possible in the state of a row: for comparing with the reference models.
  std::vector<Taken> steps(const unsigned char* row);

 private:
  Finding check_initial();
  void make_criterion_checker();
  Finding check_all();
  // Whether the set has every end of `state`; else why not.
  Condition missing(const Number* state, const Step* step);
  Finding check_state(std::size_t number, const Number* state);
  void note_changes(const Number* state, int process, const Number* after);
  // Whether `state`, of which `changing_` says who can change what, is one that an attack on persistence starts from.
  void look_for_attack(std::size_t number, const Number* state);
  Finding found(Condition condition, std::size_t number) const;
  bool is_bad(const Number* state) const;
  bool is_final(const Number* state) const;
  bool may_all_end(const Number* state) const;
  bool refutes_final(const Number* state) const;

  Model model_;
  Program program_;
  Layout layout_;
  Steps steps_;
  Ends ends_;
  RowSet rows_;
  int bad_ = -1;
  bool deadlock_ = false;
  std::vector<int> final_;
  int expected_ = -1;
  std::set<std::vector<Number>> outcomes_;
  std::vector<unsigned char> scratch_;
  std::string text_;
  Criterion criterion_ = Criterion::None;
  bool may_fail_ = false;
  int capacity_ = 0;
  std::size_t most_bytes_;
  std::unique_ptr<CriterionChecker> of_criterion_;
  std::unique_ptr<Overtaking> overtaking_;
  std::unique_ptr<Events> events_;
  std::vector<std::uint64_t> changing_;  // by variable, the processes that can change it in the state at hand
  Finding attack_;
};

}  // namespace memfence::certificate
