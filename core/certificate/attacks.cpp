#include "certificate/attacks.hpp"

#include <algorithm>
#include <new>

namespace memfence::certificate {

namespace {

// Room for the newest store to each variable and for what one more step appends, separators included.
int room_for_walks(const Program& program) {
  std::size_t most = 0;
  for (const Process& process : program.processes) {
    std::size_t appended = 2;
    for (const Transition& t : process.transitions) appended = std::max(appended, 2 * t.ops.size());
    most = std::max(most, process.stored.size() + appended);
  }
  return static_cast<int>(std::min<std::size_t>(most, kMostPending));
}

}  // namespace

Attacks::Attacks(const std::string& program, const Model& model, std::size_t most_bytes)
    : model_(model),
      plain_(read_program(program, sc_)),
      program_(read_program(program, model_)),
      plain_layout_(plain_, sc_, 0),
      layout_(program_, model_, room_for_walks(program_)),
      events_(plain_, sc_, plain_layout_),
      steps_(program_, model_, layout_),
      text_(program_),
      bytes_(plain_layout_, text_.shared()),
      most_bytes_(most_bytes),
      buffered_(static_cast<std::size_t>(layout_.places())) {
  if (processes() > 64) throw Unsupported("there are more than 64 processes");
  if (model_.buffers == Buffers::None) throw Unsupported("there are no attacks under SC");
}

bool Attacks::refuses(const Number* state, std::optional<Step>& step) {
  if (Events::is_held(plain_, state)) return false;
  for (int p = 0; p < processes(); ++p) {
    for (const int number : text_.starts(p, state[p])) {
      Attack first;
      first.attacker = p;
      first.delayed = -1;
      first.state.assign(state, state + plain_layout_.places());
      if (!walk(first, number)) continue;
      visit(next_);
      if (!comes_back()) continue;
      step = Step{Step::Kind::Run, p, number};
      return true;
    }
  }
  return false;
}

// Each attack is gone through once, from whatever state it starts: those that were are the first in `seen_`.
bool Attacks::comes_back() {
  for (; explored_ < seen_.size(); ++explored_) {
    bytes_.read(seen_.at(explored_), here_);
    const int attacker = here_.attacker;
    for (int p = 0; p < processes(); ++p) {
      if (here_.is_stopped(p)) continue;
      const Process& process = program_.processes[static_cast<std::size_t>(p)];
      for (const int number : process.leaving[static_cast<std::size_t>(here_.state[static_cast<std::size_t>(p)])]) {
        if (p != attacker && comes_back_by(p, number)) return true;
        if (p == attacker && walk(here_, number)) visit(next_);
      }
    }
  }
  return false;
}

bool Attacks::comes_back_by(int process, int number) {
  bool closes = false;
  events_.for_each(here_.state.data(), process, number, [&](const Events::Event& event) {
    if (answer(here_, process, event, closes) && !closes) visit(next_);
    return !closes;
  });
  return closes;
}

void Attacks::visit(Attack& attack) {
  forget_what_cannot_matter(attack);
  if (!can_be_reached(attack)) return;
  seen_.insert(bytes_.write(attack));
  if (seen_.bytes() > most_bytes_) throw std::bad_alloc();
}

bool Attacks::walk(const Attack& attack, int number) {
  const int p = attack.attacker;
  if (program_.processes[static_cast<std::size_t>(p)].transitions[static_cast<std::size_t>(number)].takes_bus) return false;
  std::copy(attack.state.begin(), attack.state.end(), buffered_.begin());
  std::fill(buffered_.begin() + program_.buffers_at, buffered_.end(), 0);
  for (const Buffer& buffer : layout_.buffers(p)) {
    Number& length = buffered_[static_cast<std::size_t>(buffer.first)];
    const auto append = [&](int variable, Number value, bool is_separator) {
      buffer.put(buffered_.data(), length++, variable, value, is_separator);
    };
    const bool has_separator = attack.is_separated && buffer.variable >= 0;
    if (has_separator && buffer.variable != attack.delayed) append(buffer.variable, 0, true);
    for (const auto& [variable, value] : attack.pending)
      if (buffer.variable < 0 || buffer.variable == variable) append(variable, value, false);
    if (has_separator && buffer.variable == attack.delayed) append(buffer.variable, 0, true);
  }
  const Outcome outcome = steps_.take(buffered_.data(), p, number, &made_);
  if (outcome == Outcome::Overflow) throw Unsupported("a walk has too many pending stores");
  if (outcome == Outcome::Blocked || (outcome == Outcome::Failed && attack.delayed < 0)) return false;
  next_ = attack;
  if (outcome == Outcome::Failed) {  // it has made its reads
    stop(next_, p);
  } else {
    const Number* const after = steps_.after();
    next_.state.assign(after, after + plain_layout_.places());
    if (!(model_.buffers == Buffers::PerProcess ? settle_per_process(after) : settle_per_variable(after))) return false;
  }
  std::erase_if(made_, [](const Access& access) { return access.writes; });
  add_made(made_);
  return true;
}

// Of several stores to one variable only the newest is kept: that is all that the process itself sees of them.
bool Attacks::settle_per_process(const Number* after) {
  const Buffer& buffer = layout_.buffers(next_.attacker).at(0);
  next_.pending.clear();
  for (Number n = 0; n < after[buffer.first]; ++n) {
    const Number* const entry = buffer.entry(after, n);
    const int variable = static_cast<int>(entry[0]);
    if (is_first()) next_.delayed = variable;
    const auto place = std::lower_bound(next_.pending.begin(), next_.pending.end(), std::pair(variable, INT64_MIN));
    if (place != next_.pending.end() && place->first == variable)
      place->second = entry[1];
    else
      next_.pending.insert(place, {variable, entry[1]});
  }
  return !is_first() && text_.number_of(next_.delayed) >= 0;
}

bool Attacks::settle_per_variable(const Number* after) {
  const std::vector<Buffer>& buffers = layout_.buffers(next_.attacker);
  // Ahead of the delayed store there is nothing that a separator could separate.
  Number ahead = INT64_MAX;
  bool separated = false;
  for (const Buffer& buffer : buffers) {
    Number first = 0;
    while (first < after[buffer.first] && buffer.is_separator(buffer.entry(after, first))) ++first;
    ahead = std::min(ahead, first);
    if (is_first() && first < after[buffer.first]) next_.delayed = buffer.variable;
  }
  next_.pending.clear();
  for (const Buffer& buffer : buffers) {
    bool is_behind = false;  // a separator
    std::optional<Number> newest, early;
    for (Number n = ahead; n < after[buffer.first]; ++n) {
      const Number* const entry = buffer.entry(after, n);
      if (buffer.is_separator(entry))
        is_behind = true;
      else
        (is_behind || buffer.variable == next_.delayed ? newest : early) = buffer.value(entry);
    }
    separated |= is_behind;
    if (newest) next_.pending.emplace_back(buffer.variable, *newest);
    if (!early) continue;
    next_.state[static_cast<std::size_t>(program_.memory_at + buffer.variable)] = *early;
    if (const int shared = text_.number_of(buffer.variable); shared >= 0) next_.made.written.add(shared);
  }
  next_.is_separated = separated;
  return !is_first() && text_.number_of(next_.delayed) >= 0;
}

bool Attacks::answer(const Attack& attack, int process, const Events::Event& event, bool& closes) {
  if (event.outcome == Outcome::Blocked) return false;
  AccessedSets made;
  bool is_end = false;
  for (const Access& access : event.made) {
    is_end |= access.variable == attack.delayed;
    if (const int shared = text_.number_of(access.variable); shared >= 0)
      (access.writes ? made.written : made.read).add(shared);
  }
  if (!attack.is_member(process) && !(made.all() & attack.made.written).any() && !(made.written & attack.made.read).any())
    return false;
  closes = is_end;
  next_ = attack;
  if (event.outcome == Outcome::Failed)
    stop(next_, process);
  else
    next_.state.assign(event.after, event.after + next_.state.size());
  next_.members |= bit(process);
  next_.made |= made;
  return true;
}

void Attacks::add_made(const std::vector<Access>& made) {
  for (const Access& access : made)
    if (const int shared = text_.number_of(access.variable); shared >= 0) next_.made.read.add(shared);
}

void Attacks::stop(Attack& attack, int process) const {
  attack.stopped |= bit(process);
  attack.state[static_cast<std::size_t>(process)] = 0;
  const Process& stopped = program_.processes[static_cast<std::size_t>(process)];
  for (std::size_t n = 0; n < stopped.places.size(); ++n) {
    const Domain& domain = stopped.registers[n].domain;
    attack.state[static_cast<std::size_t>(stopped.places[n])] = std::max(domain.lo, std::min(domain.hi, Number{0}));
  }
  if (process != attack.attacker) return;
  attack.pending.clear();
  attack.is_separated = false;
}

// The attacker matters as long as it may read what somebody writes who is not in the attack yet, or, under PSO, change what
// others access; what was accessed matters as long as somebody may come in by it.
void Attacks::forget_what_cannot_matter(Attack& attack) const {
  AccessedSets outside, others;
  for (int p = 0; p < processes(); ++p) {
    if (p == attack.attacker || attack.is_stopped(p)) continue;
    const AccessedSets& ahead = text_.ahead(p, attack.state[static_cast<std::size_t>(p)]);
    others |= ahead;
    if (!attack.is_member(p)) outside |= ahead;
  }
  if (!attack.is_stopped(attack.attacker)) {
    const AccessedSets& walk = text_.walk(attack.attacker, attack.state[static_cast<std::size_t>(attack.attacker)]);
    const bool writes = model_.buffers == Buffers::PerVariable && !attack.is_separated;
    if (!(walk.read & outside.written).any() && !(writes && (walk.written & others.all()).any())) stop(attack, attack.attacker);
  }
  attack.made.read &= outside.written;
  attack.made.written &= outside.all();
}

// Whether somebody who may come into the attack may access the delayed variable.
bool Attacks::can_be_reached(const Attack& attack) const {
  const int delayed = text_.number_of(attack.delayed);
  AccessedSets made = attack.made;
  if (!attack.is_stopped(attack.attacker)) {
    const AccessedSets& walk = text_.walk(attack.attacker, attack.state[static_cast<std::size_t>(attack.attacker)]);
    made.read |= walk.read;
    if (model_.buffers == Buffers::PerVariable) made.written |= walk.written;
  }
  std::uint64_t inside = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int p = 0; p < processes(); ++p) {
      if (p == attack.attacker || attack.is_stopped(p) || (inside >> p & 1) != 0) continue;
      const AccessedSets& ahead = text_.ahead(p, attack.state[static_cast<std::size_t>(p)]);
      if (!attack.is_member(p) && !(ahead.all() & made.written).any() && !(ahead.written & made.read).any()) continue;
      if (ahead.all().has(delayed)) return true;
      inside |= bit(p);
      made |= ahead;
      changed = true;
    }
  }
  return false;
}

}  // namespace memfence::certificate
