// Abridged sets: the states of the set that a state stands for, once processes have left the locations that they only pass,
// dead registers are at their defaults, and processes that are alike are in order. The conditions on what may be left out are checked in
// `certificates/checker/abridged.py`, which says why this is enough.
#pragma once

#include <stdexcept>

#include "certificate/alike.hpp"
#include "certificate/steps.hpp"

namespace memfence::certificate {

constexpr std::size_t kMostPassed = 100'000;  // places in one walk by local steps

// The claim, or the program, is beyond what the checker looks at: a reason to refuse.
class TooLarge : public std::length_error {
 public:
  using std::length_error::length_error;
};

// By process; empty where nothing is left out. `dead`: registers by location. `quiet`: transitions behind which a process
// that waits for ever at one of the locations in `forgotten` may be left out. `alike`: classes of processes.
struct LeftOut {
  std::vector<std::vector<int>> passing;
  std::vector<std::vector<std::vector<int>>> dead;
  std::vector<std::vector<int>> quiet, forgotten, alike;
};

class Ends {
 public:
  Ends(const Program& program, const Model& model, const Layout& layout, const LeftOut& left_out);

  // Every end of local steps from `state`, which `step`, if any, led to: Done with the end, or Failed. `visit` returns whether
  // to go on; so does this.
  using Visit = std::function<bool(Outcome, const Number*)>;
  bool for_each(const Number* state, const Step* step, const Visit& visit);
  bool leaves_nothing_out() const { return passing_.empty(); }

 private:
  struct Default {
    int place;
    Number value;
  };
  bool is_forgotten(const Number* state, const Step* step, int process) const;
  using After = std::vector<std::pair<Outcome, std::vector<Number>>>;
  // What the first process that can leave where it passes comes to; false if there is none, at an end.
  bool leave(const Number* state, const Step* step, After& after);
  bool visit_end(const Number* state, const Visit& visit);

  const Program& program_;
  Steps steps_;
  Alike alike_;
  std::vector<std::vector<char>> passing_, quiet_, forgotten_;
  std::vector<std::vector<std::vector<Default>>> dead_;
  std::vector<Number> end_;
};

}  // namespace memfence::certificate
