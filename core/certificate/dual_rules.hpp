// The backward search: from where configurations are reached, which are bad and which are initial. The rules of
// `certificates/checker/dual.py`, which says why they are enough.
#pragma once

#include <functional>

#include "certificate/dual_order.hpp"

namespace memfence::certificate {

// What is asked: `bad` as canonical text, or empty. `fixed`: processes of which there is one; `instances`: the others, those that
// are alike together; `named`: of these, whom the question names. `everything_locked`: under SC. `left_out`: locations that
// are passed, and dead registers.
struct DualAsked {
  std::string program, bad;
  std::vector<int> fixed;
  std::vector<std::vector<int>> instances;
  std::vector<int> named;
  bool everything_locked = false;
  LeftOut left_out;
};

class DualRules {
 public:
  explicit DualRules(const DualAsked& asked);

  using Emit = std::function<bool(const Configuration&)>;  // returns whether to go on
  // The bad configurations with empty FIFOs.
  bool bad(const Emit& emit);
  // From where a step leads to `c`, or above it; without those that are above `c` themselves.
  bool before(const Configuration& c, const Emit& emit);
  // From where the action leads to `c`, in which its process stands where it started.
  bool before_action(const Configuration& c, std::size_t p, const Action& action, const Emit& emit);
  bool is_initial(const Configuration& c);
  // Whether the part may be at its start, with nothing to read.
  bool is_starting(const Part& part);
  // Whether it has every process of which there is one, and of others only those that there may be.
  bool is_one(const Configuration& c) const;
  bool is_parameterised() const { return !asked_.instances.empty(); }

  const Program& program() const { return program_; }
  std::size_t fixed() const { return asked_.fixed.size(); }
  LocalProcess& local(int kind) { return locals_.at(kind); }
  Locals& locals() { return locals_; }
  Messages& messages() { return messages_; }

 private:
  int kind_of(int process) const;
  bool bad_among(const std::vector<int>& members, bool named, const Emit& emit);
  std::vector<std::vector<int>> groups(int process);  // controls, by what the question sees
  std::vector<int> seen_variables() const;
  void looked_at(int expression, std::vector<const Node*>& found) const;
  bool before_part(const Configuration& c, std::size_t p, const Emit& emit);
  bool before_stores(const Configuration& c, std::size_t p, const Action& action, const Emit& emit);
  bool before_loads(const Configuration& c, std::size_t p, const Action& action, const Emit& emit);
  std::vector<Fifo> own_stores(int kind, int sources, const Facts& stores);
  // The configuration, the process being only where it may have the own messages that it has.
  bool emit_owning(Configuration& c, std::size_t p, const Emit& emit);
  int own(const Fact& store) { return messages_.number({{store}, true}); }

  DualAsked asked_;
  Program program_, orders_;  // as SC reads it, and as TSO does
  Layout layout_;
  Steps steps_;
  int bad_ = -1;
  Messages messages_;
  Locals locals_;
};

}  // namespace memfence::certificate
