#include "certificate/steps.hpp"

#include <algorithm>

namespace memfence::certificate {

void keep_reads(std::vector<Access>& made) {
  std::vector<int> stored;
  std::erase_if(made, [&](const Access& access) {
    if (access.writes) stored.push_back(access.variable);
    return std::find(stored.begin(), stored.end(), access.variable) != stored.end();
  });
}

bool Steps::is_halted(const Number* state, int process) const {
  return program_.processes[static_cast<std::size_t>(process)].leaving[static_cast<std::size_t>(state[process])].empty();
}

bool Steps::is_drained(const Number* state, int process) const {
  for (const Buffer& buffer : layout_.buffers(process))
    if (state[buffer.first] != 0) return false;
  return true;
}

bool Steps::tell(const Step& step, Outcome outcome, const Visit& visit) const {
  return outcome == Outcome::Blocked || visit(step, outcome, next_.data());
}

bool Steps::for_each(const Number* state, const Visit& visit) {
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p) {
    if (owns_bus(state, p) && !background(state, p, visit)) return false;
    const Process& process = program_.processes[static_cast<std::size_t>(p)];
    for (const int number : process.leaving[static_cast<std::size_t>(state[p])]) {
      const Transition& t = process.transitions[static_cast<std::size_t>(number)];
      if (!t.meeting) {
        if (!tell({Step::Kind::Run, p, number}, run(state, {p, &t, t.locked}), visit)) return false;
      } else if (t.meeting->sends && !meetings(state, {Step::Kind::Meet, p, number}, visit)) {
        return false;
      }
    }
  }
  return true;
}

bool Steps::for_each_of(const Number* state, int process, std::vector<Access>* made, const Visit& visit) {
  const Process& p = program_.processes[static_cast<std::size_t>(process)];
  for (const int number : p.leaving[static_cast<std::size_t>(state[process])]) {
    if (p.transitions[static_cast<std::size_t>(number)].meeting) continue;
    const Outcome outcome = take(state, process, number, made);
    if (!tell({Step::Kind::Run, process, number}, outcome, visit)) return false;
  }
  return true;
}

Outcome Steps::take(const Number* state, int process, int number, std::vector<Access>* made) {
  const Transition& t = program_.processes[static_cast<std::size_t>(process)].transitions[static_cast<std::size_t>(number)];
  if (made != nullptr) made->clear();
  made_ = made;
  const Outcome outcome = run(state, {process, &t, t.locked});
  made_ = nullptr;
  return outcome;
}

Outcome Steps::take(const Number* state, const Step& step, const Watch& watch) {
  const auto mover = [&](int process, int number) {
    const Process& p = program_.processes[static_cast<std::size_t>(process)];
    const Transition& t = p.transitions[static_cast<std::size_t>(number)];
    return Mover{process, &t, t.locked};
  };
  const auto stands = [&](const Mover& m) { return state[m.process] == m.transition->source; };
  const Mover first = mover(step.process, step.number);
  if (!stands(first) || first.transition->meeting.has_value() != (step.kind == Step::Kind::Meet)) return Outcome::Blocked;
  made_ = watch.accesses;
  events_ = watch.events;
  behind_ = watch.behind;
  Outcome outcome = Outcome::Blocked;
  if (step.kind == Step::Kind::Run) {
    outcome = run(state, first);
  } else if (step.kind == Step::Kind::Meet) {
    const Mover second = mover(step.other, step.other_number);
    const auto &sends = first.transition->meeting, &receives = second.transition->meeting;
    const bool matches = receives && sends->channel == receives->channel && sends->sends && !receives->sends;
    if (matches && step.process != step.other && stands(second)) outcome = meet(state, first, second);
  }
  made_ = nullptr;
  behind_ = nullptr;
  events_ = nullptr;
  return outcome;
}

Outcome Steps::take_from_buffers(const Number* state, const Step& step, std::vector<Event>& events) {
  bool is_possible = false;
  if (!owns_bus(state, step.process)) return Outcome::Blocked;
  background(state, step.process, [&](const Step& one, Outcome, const Number*) {
    is_possible = one.kind == step.kind && one.number == step.number;
    return !is_possible;
  });
  if (!is_possible) return Outcome::Blocked;
  if (step.kind == Step::Kind::Commit) {
    const Buffer& buffer = layout_.buffers(step.process)[static_cast<std::size_t>(step.number)];
    const Number* entry = state + buffer.first + 1;
    const int variable = buffer.variable < 0 ? static_cast<int>(entry[0]) : buffer.variable;
    events.push_back({Event::Kind::Commit, step.process, variable, entry[buffer.places_of_an_entry() - 1]});
  }
  return Outcome::Done;
}

bool Steps::meetings(const Number* state, const Step& sender, const Visit& visit) {
  const Transition& sending =
      program_.processes[static_cast<std::size_t>(sender.process)].transitions[static_cast<std::size_t>(sender.number)];
  for (int q = 0; q < static_cast<int>(program_.processes.size()); ++q) {
    if (q == sender.process) continue;
    const Process& process = program_.processes[static_cast<std::size_t>(q)];
    for (const int number : process.leaving[static_cast<std::size_t>(state[q])]) {
      const Transition& t = process.transitions[static_cast<std::size_t>(number)];
      if (!t.meeting || t.meeting->sends || t.meeting->channel != sending.meeting->channel) continue;
      Step step = sender;
      step.other = q;
      step.other_number = number;
      const Outcome outcome = meet(state, {sender.process, &sending, sending.locked}, {q, &t, t.locked});
      if (!tell(step, outcome, visit)) return false;
    }
  }
  return true;
}

// The oldest entry of a buffer reaches memory; separators leave once they head all buffers of the process.
bool Steps::background(const Number* state, int process, const Visit& visit) {
  const std::vector<Buffer>& buffers = layout_.buffers(process);
  bool all_separated = !buffers.empty();
  for (std::size_t n = 0; n < buffers.size(); ++n) {
    const Buffer& buffer = buffers[n];
    const bool is_empty = state[buffer.first] == 0;
    const bool separated = !is_empty && buffer.is_separator(buffer.entry(state, 0));
    all_separated &= separated;
    if (is_empty || separated) continue;
    std::copy_n(state, next_.size(), next_.begin());
    const std::size_t head = static_cast<std::size_t>(buffer.first) + 1;
    if (buffer.variable < 0)
      memory(static_cast<int>(next_[head])) = next_[head + 1];
    else
      memory(buffer.variable) = buffer.value(&next_[head]);
    commit(buffer);
    if (!tell({Step::Kind::Commit, process, static_cast<int>(n)}, Outcome::Done, visit)) return false;
  }
  if (!all_separated) return true;
  std::copy_n(state, next_.size(), next_.begin());
  for (const Buffer& buffer : buffers) commit(buffer);
  return tell({Step::Kind::Drop, process}, Outcome::Done, visit);
}

// Take the oldest entry out.
void Steps::commit(const Buffer& buffer) {
  const int entry = buffer.places_of_an_entry();
  Number& length = next_[static_cast<std::size_t>(buffer.first)];
  const auto first = next_.begin() + buffer.first + 1;
  std::copy(first + entry, first + entry * length, first);
  --length;
  std::fill_n(first + entry * length, entry, 0);
}

// DVE's committed locations: while some process stands at one, only such processes move.
bool Steps::may_move(const Number* state, int process) const {
  if (!program_.has_committed) return true;
  const auto is_committed = [&](int p) {
    return program_.processes[static_cast<std::size_t>(p)].locations[static_cast<std::size_t>(state[p])].committed;
  };
  bool any = false;
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p) any |= is_committed(p);
  return !any || is_committed(process);
}

// A locked step needs the buffers of its process empty and the bus free.
bool Steps::starts(const Number* state, Mover& mover) const {
  if (!may_move(state, mover.process)) return false;
  return !mover.locked || (is_drained(state, mover.process) && owns_bus(state, mover.process));
}

Outcome Steps::run(const Number* state, Mover mover) {
  if (!starts(state, mover)) return Outcome::Blocked;
  std::copy_n(state, next_.size(), next_.begin());
  failed_assertion_ = false;
  const Outcome outcome = apply_all(mover, 0, mover.transition->ops.size());
  if (outcome == Outcome::Done) arrive(mover);
  return outcome;
}

// Both sides' guards in the old state, then the values pass, then the receiver's other ops, then the sender's.
Outcome Steps::meet(const Number* state, Mover sender, Mover receiver) {
  const Meeting &s = *sender.transition->meeting, &r = *receiver.transition->meeting;
  if (!starts(state, sender) || !starts(state, receiver)) return Outcome::Blocked;
  if (s.values.size() != r.registers.size()) throw Unsupported("a rendezvous passes other values than are received");
  std::copy_n(state, next_.size(), next_.begin());
  failed_assertion_ = false;
  Outcome outcome = apply_all(sender, 0, s.guard_ops);
  if (outcome == Outcome::Done) outcome = apply_all(receiver, 0, r.guard_ops);
  if (outcome != Outcome::Done) return outcome;
  std::vector<Wide> values(s.values.size());
  for (std::size_t n = 0; n < values.size(); ++n)
    if (!evaluate(s.values[n], next_.data(), values[n])) return Outcome::Failed;
  for (std::size_t n = 0; n < values.size(); ++n)
    if (set_register(r.registers[n], values[n]) != Outcome::Done) return Outcome::Failed;
  outcome = apply_all(receiver, r.guard_ops, receiver.transition->ops.size());
  if (outcome == Outcome::Done) outcome = apply_all(sender, s.guard_ops, sender.transition->ops.size());
  if (outcome != Outcome::Done) return outcome;
  arrive(sender);
  arrive(receiver);
  return outcome;
}

Outcome Steps::apply_all(const Mover& mover, std::size_t first, std::size_t last) {
  for (std::size_t n = first; n < last; ++n) {
    const Outcome outcome = apply(mover.transition->ops[n], mover.process, mover.locked);
    if (outcome != Outcome::Done) return outcome;
  }
  return Outcome::Done;
}

void Steps::arrive(const Mover& mover) {
  next_[static_cast<std::size_t>(mover.process)] = mover.transition->target;
  for (const int place : program_.processes[static_cast<std::size_t>(mover.process)].scratch)
    next_[static_cast<std::size_t>(place)] = 0;
}

}  // namespace memfence::certificate
