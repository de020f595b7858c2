// The fast checker of automata: the conditions of `certificates/checker/automata.py`, in the same order.
#pragma once

#include <unordered_map>

#include "certificate/checker.hpp"
#include "certificate/languages.hpp"

namespace memfence::certificate {

// What was found: nothing wrong, or the first violated condition, with the control part and the automata of the symbolic state
// and the step that show it.
struct SymbolicFinding {
  Condition condition = Condition::None;
  std::string row;
  std::vector<std::uint32_t> numbers = {};
  bool has_step = false;
  Step step = {};
};

class AutomataChecker {
 public:
  // `model` is TSO or PSO without a bound, `bad` an expression as canonical text or empty.
  AutomataChecker(const std::string& program, const Model& model, const std::string& bad, bool deadlock);

  // A move of an automaton: the pending store, or a separator where it is none; and where it leads.
  struct Move {
    bool is_store;
    Number variable, value;
    int target;
  };
  // Take over an automaton, deterministic from node 0 on.
  void add_automaton(const std::vector<std::vector<Move>>& moves, const std::vector<int>& accepting);
  // Take over a block of rows, byte planes one behind the other.
  SymbolicFinding add(const unsigned char* block, std::size_t size);
  SymbolicFinding check();

  std::size_t width() const { return control_.width() + 4 * program_.processes.size(); }
  std::size_t states() const { return states_; }
  std::size_t bytes() const { return states_ * (width() + 4 * program_.processes.size() + 48) + groups_.size() * 128; }

 private:
  using Numbers = std::vector<std::uint32_t>;  // of the automaton of each process
  struct Group {
    std::string row;
    std::vector<Numbers> known;
  };
  // How a set of words came about, by which it is remembered.
  using Made = std::vector<Number>;

  SymbolicFinding check_initial();
  SymbolicFinding check_group(const Group& group);
  bool is_deadlock(const std::vector<Number>& state, const Numbers& numbers);
  Condition check_steps(const std::vector<Number>& control, const Numbers& numbers, Step& shown);
  Condition check_ways(const std::vector<Number>& control, const Numbers& numbers, const Step& step, Behind& behind);
  Condition check_commits(const std::vector<Number>& control, const Numbers& numbers, Step& shown);
  Condition check_way(const std::vector<Number>& state, const Numbers& numbers, const Step& step, const Behind& behind,
                      Outcome outcome);

  std::vector<Step> steps_at(const Number* state) const;
  // Whether some symbolic state with the control part of `state` includes these words: those made by numbers for the processes
  // that did something, and the old ones for the others.
  bool is_covered(const Number* state, const Numbers& numbers, const std::map<int, std::size_t>& made);
  const std::vector<Newest>& newest(std::uint32_t number, int variable);
  // Numbers of sets of words: what a step that found these answers makes of those of an automaton; what a commit leaves of them;
  // the words of the automaton themselves.
  std::size_t made(std::uint32_t number, bool pending, const std::vector<Behind::Answer>& answers, int process,
                   const std::vector<Symbol>& stored);
  std::size_t committed(std::uint32_t number, Symbol symbol);
  std::size_t kept(std::uint32_t number);
  std::size_t remember(const Made& how, Words words);
  Words settle(const Words& words) const;
  bool is_included(std::uint32_t larger, std::size_t made);
  std::vector<Symbol> stored(const Number* state, int process, bool pending);

  Model model_;
  Program program_;
  Layout control_;  // of rows, without buffers
  Layout layout_;   // with room for what one step stores
  Steps steps_;
  int bad_ = -1;
  bool deadlock_ = false;
  Alphabet alphabet_;
  std::vector<Words> words_;
  std::vector<Group> groups_;
  std::unordered_map<std::string, std::size_t> group_of_;
  std::size_t states_ = 0;
  std::vector<unsigned char> scratch_;
  std::map<std::pair<std::uint32_t, int>, std::vector<Newest>> newest_;
  std::map<Made, std::size_t> made_numbers_;
  std::vector<Words> made_;
  std::vector<char> made_any_;
  std::map<std::pair<std::uint32_t, std::size_t>, bool> included_;
};

}  // namespace memfence::certificate
