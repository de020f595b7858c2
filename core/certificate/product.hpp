// The program beside the automaton of the runs that refute a temporal property: `certificates/checker/ranks.py` once more, for
// speed. The automaton comes from `certificates/checker/tableau.py`.
#pragma once

#include <optional>

#include "certificate/steps.hpp"

namespace memfence::certificate {

// A move of the automaton: possible where all atoms in `positive` and none in `negative` are true; it visits `marks`.
struct Move {
  int target = 0;
  std::vector<int> positive, negative, marks;
};

// `truth`: which atoms are true.
bool is_possible(const Move& move, const std::vector<char>& truth);

// Accepts the runs that visit every mark again and again. `atoms`: expressions as canonical text. `fair`: a process that can
// always move eventually does; memory is always fair.
struct Refuting {
  std::vector<std::vector<Move>> nodes;
  int initial = 0, marks = 0;
  std::vector<std::string> atoms;
  bool fair = false;
};

// How a run goes on: by a step, or standing still where no step is possible.
struct Successor {
  std::optional<Step> step;
  std::optional<std::size_t> row;  // where the row of the state after it begins; none: it has no row
};

class Product {
 public:
  Product(const std::string& program, const Model& model, int capacity, Refuting refuting);

  const Program& program() const { return program_; }
  const Layout& layout() const { return layout_; }
  const Refuting& refuting() const { return refuting_; }
  // Those of the automaton, then one for each buffer and, where that is asked, one for each process. At least one: where
  // nothing has to recur, every step visits it.
  int marks() const { return has_no_marks() ? 1 : refuting_.marks + static_cast<int>(conditions_.size()); }

  // Look at a state, of which everything else speaks; it has to stay where it is.
  void enter(const Number* state);
  const std::vector<char>& truth() const { return truth_; }  // of the atoms
  // How runs go on. A failing step ends a run, or leads to the language's error state (DVE).
  const std::vector<Successor>& successors();
  const unsigned char* row(const Successor& successor) const { return successor.row ? rows_.data() + *successor.row : nullptr; }
  // Whether a mark is visited by one of the `successors()`, taken with `move`.
  bool visits(const Move& move, const Successor& successor, int mark) const;
  // The same for marks of fairness, which do not depend on the move.
  bool meets(const Successor& successor, int mark) const;

 private:
  // A buffer drains, or, where `buffer` is -1, a process runs.
  struct Condition {
    int process, buffer;
  };
  bool has_no_marks() const { return refuting_.marks == 0 && conditions_.empty(); }
  void go_on(std::optional<Step> step, const Number* after);
  void find_movers();

  Model model_;
  Program program_;
  Layout layout_;
  Steps steps_;
  Refuting refuting_;
  std::vector<int> atoms_;
  std::vector<Condition> conditions_;
  std::vector<Number> error_;

  const Number* state_ = nullptr;
  std::vector<char> truth_, can_move_;
  bool has_successors_ = false;
  std::vector<Successor> successors_;
  std::vector<unsigned char> rows_, scratch_;
};

}  // namespace memfence::certificate
