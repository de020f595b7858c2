// What each process can do by itself, for the Dual-TSO engine: its local states and what it reads and writes between them.
//
// A forward over-approximation, computed once. A local state holds the location, the registers and the last values
// written to the variables that only this process writes (its *exclusive* ones). A load of any other variable may give
// every value that some reachable store of any process, or the initial memory, puts there. Exclusive variables need no
// guess: under TSO a process always reads its own last store to them, whether that is pending or not. In the dual
// semantics a store reaches memory at once, so the local state even tells what memory holds there.
//
// One unlocked step is atomic, but its stores reach memory one by one. It loads first: all values come from one moment
// (or from the process's own pending stores), whatever the step stored in between, since a load behind a store to the
// same variable is decided within the step. Then it stores once; every further store is a local step of its own through
// a state with a list of owed stores. Nothing is loaded there, so nothing is gained by other steps in between.
#pragma once

#include <compare>
#include <set>
#include <unordered_map>

#include "machine/machine.hpp"
#include "search/limits.hpp"

namespace memfence::dual {

struct Fact {
  int variable;
  Value value;
  auto operator<=>(const Fact&) const = default;
};
using Facts = std::vector<Fact>;

struct HashNumbers {
  template <class Number>
  std::size_t operator()(const std::vector<Number>& numbers) const {
    std::uint64_t h = 0x9e3779b97f4a7c15u + numbers.size();
    for (const Number n : numbers) {
      h ^= static_cast<std::uint64_t>(n);
      h *= 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  }
};

// Who writes a variable decides where its value is known.
struct Role {
  enum class Kind : std::uint8_t { Constant, Exclusive, Shared };
  Kind kind;
  int owner = -1;   // Exclusive: the only process that writes it
  int place = -1;   // Exclusive: its place among the owner's; Shared: among the shared ones
  Value value = 0;  // Constant
};

struct Roles {
  std::vector<Role> of;
  std::vector<int> shared;                    // variables that several processes write, or whose initial value is open
  std::vector<std::vector<int>> exclusive;    // per process
  std::vector<std::vector<Value>> initial;    // per variable: the values it may start with
};

// What a constraint is made of. The first `fixed` processes of the machine are there once each. Of the others there may be
// any number: they stand for kinds of processes, and processes of one kind have the same code.
struct Instances {
  int fixed = 0;
  std::vector<int> kind_of;  // per process: the first one with the same code; of a fixed one itself

  bool is_kind(int process) const { return kind_of[static_cast<std::size_t>(process)] == process; }
  bool is_unbounded(int process) const { return process >= fixed; }
};

Roles find_roles(const Machine& machine, const Instances& instances);

enum class Mode : std::uint8_t {
  Plain,   // loads look at the FIFO, the store appends to it
  Fenced,  // the FIFO is empty before: loads read memory; the store appends to it
  Locked,  // the FIFO is empty before and after: loads read memory, stores write it
};

struct Action {
  Mode mode;
  Facts reads;   // by variable
  Facts stores;  // Plain, Fenced: at most one; Locked: the last value of each variable, by variable
  auto operator<=>(const Action&) const = default;
};

// Location of the states that a failing step leads to; their registers are 0.
inline constexpr Value failed_location = -1;

// Constraints name what memory holds by number, so that every value is an ordinary one.
inline constexpr int unknown_number = -1;

class LocalGraph {
 public:
  struct Step {
    int target;
    int action;
    int edge;  // of the machine; -1: a store that an earlier step owes
  };
  std::vector<std::vector<Value>> states;  // location, registers, exclusive variables, owed (variable, value)...
  std::vector<std::vector<Step>> steps;
  std::vector<int> initial;
  std::vector<Action> actions;
  std::size_t fixed_size = 0;  // of a state that owes nothing

  bool is_failed(int state) const { return at(state)[0] == failed_location; }
  bool owes(int state) const { return at(state).size() > fixed_size; }
  Value location(int state) const { return at(state)[0]; }
  const std::vector<Value>& at(int state) const { return states[static_cast<std::size_t>(state)]; }
};

struct LocalGraphs {
  Stop stop = Stop::None;
  bool truncated = false;  // some variable had more values than allowed: steps are missing, none was added
  Roles roles;
  std::vector<LocalGraph> of;
  std::vector<std::vector<Value>> values;  // per variable: what memory may ever hold, in ascending order
  std::uint64_t bytes = 0;

  // Which of the values of the variable it is; unknown_number if it is none of them.
  int number_of(int variable, Value value) const;
  Value value_of(int variable, int number) const {
    return values[static_cast<std::size_t>(variable)][static_cast<std::size_t>(number)];
  }
};

// With at most so many values per variable, the first ones that are found: what is missing then are runs, so that whatever
// the search finds is there.
LocalGraphs build_local_graphs(const Machine& machine, const Instances& instances, Watch& watch, std::size_t most_values);

}  // namespace memfence::dual
