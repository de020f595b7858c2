// What processes can do by themselves in the backward search, loads giving anything: as in `certificates/checker/dual_local.py`.
#pragma once

#include <map>
#include <set>

#include "certificate/ends.hpp"

namespace memfence::certificate {

constexpr int kFailed = -1;  // the location of a process that has failed
constexpr std::size_t kMostGuesses = 200'000, kMostBad = 500'000, kMostControls = 500'000, kMostTried = 20'000'000,
                      kMostOwned = 1'000'000;

using Fact = std::pair<int, Number>;  // a variable and its value
using Facts = std::vector<Fact>;
using Control = std::vector<Number>;  // location, then all registers

struct Action {
  Facts loads, stores;
  bool is_empty = false, locked = false;
  auto operator<=>(const Action&) const = default;
};

// The newest own messages after a plain step.
Facts with_store(Facts own, const Facts& stores);

// Sets of controls, each with a number; and whether one holds all that another one does.
class ControlSets {
 public:
  using Bits = std::vector<std::uint64_t>;

  int number(Bits bits);
  const Bits& bits(int set) const { return *bits_[static_cast<std::size_t>(set)]; }
  bool includes(int larger, int smaller) const;
  static void insert(Bits& bits, int control);
  std::vector<int> members(int set) const;

 private:
  std::map<Bits, int> numbers_;
  std::vector<const Bits*> bits_;
};

// One kind of process.
class LocalProcess {
 public:
  // `everything_locked`: under SC. `program` is read as SC does, `orders` is the same program as TSO reads it. `left_out`: what
  // the process passes, and which of its registers are dead.
  LocalProcess(const Program& program, const Program& orders, int process, bool everything_locked, const LeftOut& left_out);

  int control(const Control& control);  // its number, a new one where it is not known yet
  const Control& control(int number) const { return *controls_[static_cast<std::size_t>(number)]; }
  // The controls that the process may be in have the numbers below this.
  int reached() const { return reached_; }
  int first_set() const { return first_; }
  const std::set<Fact>& writes() const { return writes_; }
  const Action& action(int number) const { return *actions_[static_cast<std::size_t>(number)]; }
  // By action: the set of controls from which it leads into `set`.
  const std::vector<std::pair<int, int>>& leading(int set);
  // By action that stores: where it is possible.
  const std::vector<std::pair<int, int>>& storing() const { return storing_; }

  // Of a set, the controls where the newest own messages may be these; and all that there may be in one of them.
  int owning(int set, const Facts& own);
  std::set<Facts> owned(int set);

  ControlSets sets;

 private:
  void find_owned();  // which takes its time, and is not needed without configurations
  void explore(const Program& program, const Program& orders, int process, bool everything_locked, const LeftOut& left_out);
  void take_all(const Program& program, const Program& orders, int process, bool everything_locked, int source, Steps& steps,
                Steps& late_steps, Ends& ends, std::vector<int>& waiting);
  // The number of a control, which is gone through later if it is new.
  int found(const Control& control, std::vector<int>& waiting);
  std::vector<std::pair<int, int>> by_action(const std::map<int, ControlSets::Bits>& sources);

  std::map<Control, int> numbers_;
  std::vector<const Control*> controls_;
  std::map<Action, int> action_numbers_;
  std::vector<const Action*> actions_;
  std::vector<std::set<std::pair<int, int>>> arriving_;  // by control: action and source
  std::set<Fact> writes_;
  std::vector<std::pair<int, int>> storing_;
  std::map<int, std::vector<std::pair<int, int>>> leading_;
  std::vector<std::set<Facts>> owned_;  // by control: the newest own message about each variable, oldest first
  std::map<std::pair<int, Facts>, int> owning_;
  int first_ = 0, reached_ = 0;
  std::size_t tried_ = 0;  // steps, with all that they may load
};

}  // namespace memfence::certificate
