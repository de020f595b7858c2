// What a program can do in a state, under SC, TSO and PSO: `memfence/models` once more, rule by rule, for speed.
//
// Nothing of the search is used here. A bug in the search's own rules would otherwise be in the checker as well, and a
// certificate of a wrong answer would pass.
#pragma once

#include <functional>

#include "certificate/layout.hpp"
#include "certificate/watch.hpp"

namespace memfence::certificate {

// A step: process and transition, and of a rendezvous the receiver's; or the buffer that commits; or the removal of
// separators.
struct Step {
  enum class Kind : std::uint8_t { Run, Meet, Commit, Drop };
  Kind kind = Kind::Run;
  int process = 0, number = 0, other = 0, other_number = 0;
};

// What a step that fails has done: its reads, but for those of its own stores.
void keep_reads(std::vector<Access>& made);

// Overflow: the step is possible, but the state after it has more pending stores than the layout has room for.
enum class Outcome : std::uint8_t { Done, Blocked, Failed, Overflow };

class Steps {
 public:
  Steps(const Program& program, const Model& model, const Layout& layout)
      : program_(program), model_(model), layout_(layout), next_(static_cast<std::size_t>(layout.places())) {}

  // Every step that is possible in `state`, with its outcome and, where it is Done, the state after it. `visit` returns
  // whether to go on.
  using Visit = std::function<bool(const Step&, Outcome, const Number*)>;
  bool for_each(const Number* state, const Visit& visit);
  // The same for the steps that `process` takes by itself; `made`, where given, gets the accesses of the last step, before
  // `visit` is called.
  bool for_each_of(const Number* state, int process, std::vector<Access>* made, const Visit& visit);
  // What becomes of one step that `process` takes by itself from where it stands; where it is Done, `after` has the state
  // until the next call. `made` gets its accesses, up to where it blocks or fails.
  Outcome take(const Number* state, int process, int number, std::vector<Access>* made);
  // The same for any step of the program, also a rendezvous. Blocked also where it is not the step of the processes at these
  // locations.
  Outcome take(const Number* state, const Step& step, const Watch& watch);
  // The same for a commit, or the removal of separators.
  Outcome take_from_buffers(const Number* state, const Step& step, std::vector<Event>& events);
  const Number* after() const { return next_.data(); }
  int places() const { return layout_.places(); }  // of a state

  // Of a step that was just told as Failed: whether an assertion was wrong; else it is a run-time error.
  bool failed_assertion() const { return failed_assertion_; }

  // The value of an expression of the whole state, or of `process`; false where evaluating it is an error.
  bool evaluate(int expression, const Number* state, Wide& out) const {
    const Node& node = program_.nodes[static_cast<std::size_t>(expression)];
    if (node.kind != Node::Kind::Constant && node.kind != Node::Kind::Place) return compute(expression, state, out);
    out = node.kind == Node::Kind::Constant ? node.value : state[node.place];
    return true;
  }

  bool is_halted(const Number* state, int process) const;
  bool is_drained(const Number* state, int process) const;

 private:
  struct Mover {
    int process;
    const Transition* transition;
    bool locked;
  };
  bool compute(int expression, const Number* state, Wide& out) const;
  bool background(const Number* state, int process, const Visit& visit);
  bool meetings(const Number* state, const Step& sender, const Visit& visit);
  bool tell(const Step& step, Outcome outcome, const Visit& visit) const;

  bool may_move(const Number* state, int process) const;
  bool starts(const Number* state, Mover& mover) const;
  Outcome run(const Number* state, Mover mover);
  Outcome meet(const Number* state, Mover sender, Mover receiver);
  Outcome apply_all(const Mover& mover, std::size_t first, std::size_t last);
  void arrive(const Mover& mover);
  Outcome apply(const Op& op, int process, bool locked);
  Outcome load(const Op& op, int process, bool locked);
  Outcome store(const Op& op, int process, bool locked);
  Outcome modify(const Op& op, int process);
  Outcome append(int process, int variable, Number value, bool is_separator);
  Outcome separate(int process);
  void commit(const Buffer& buffer);

  bool owns_bus(const Number* state, int process) const {
    return program_.lock_at < 0 || state[program_.lock_at] == 0 || state[program_.lock_at] == process + 1;
  }
  Number& memory(int variable) { return next_[static_cast<std::size_t>(program_.memory_at + variable)]; }
  Outcome set_register(int place, Wide value);
  bool variable_at(const Op& op, int& variable) const;
  bool own_store(int process, int variable, Number& value) const;
  void note(int process, int variable, bool writes, Number value) {
    if (made_ != nullptr) made_->push_back({variable, writes, value});
    tell_event(writes ? Event::Kind::Store : Event::Kind::Load, process, variable, value);
  }
  void tell_event(Event::Kind kind, int process, int variable, Number value) {
    if (events_ != nullptr) events_->push_back({kind, process, variable, value});
  }

  const Program& program_;
  const Model& model_;
  const Layout& layout_;
  std::vector<Number> next_;
  std::vector<Access>* made_ = nullptr;
  Behind* behind_ = nullptr;
  std::vector<Event>* events_ = nullptr;
  bool failed_assertion_ = false;
};

}  // namespace memfence::certificate
