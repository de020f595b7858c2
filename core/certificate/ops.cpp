// One op of a step, on the working state.
#include <algorithm>

#include "certificate/steps.hpp"

namespace memfence::certificate {

Outcome Steps::apply(const Op& op, int process, bool locked) {
  Wide value = 0;
  switch (op.kind) {
    case OpKind::Load: return load(op, process, locked);
    case OpKind::Store: return store(op, process, locked);
    case OpKind::Modify: return modify(op, process);
    case OpKind::Assign:
      if (!evaluate(op.value, next_.data(), value)) return Outcome::Failed;
      return set_register(op.reg, value);
    case OpKind::Assume:
      if (!evaluate(op.value, next_.data(), value)) return Outcome::Failed;
      return value != 0 ? Outcome::Done : Outcome::Blocked;
    case OpKind::Assert:
      if (!evaluate(op.value, next_.data(), value)) return Outcome::Failed;
      failed_assertion_ = value == 0 && !op.is_error;
      return value != 0 ? Outcome::Done : Outcome::Failed;
    case OpKind::Mfence: return is_drained(next_.data(), process) ? Outcome::Done : Outcome::Blocked;
    case OpKind::Sfence: return separate(process);
    case OpKind::Nothing: return Outcome::Done;
    case OpKind::Lock: {
      Number& owner = next_[static_cast<std::size_t>(program_.lock_at)];
      if (owner != 0) return Outcome::Blocked;
      owner = process + 1;
      return Outcome::Done;
    }
    case OpKind::Unlock: {
      if (program_.lock_at < 0) return Outcome::Blocked;
      Number& owner = next_[static_cast<std::size_t>(program_.lock_at)];
      if (owner != process + 1 || !is_drained(next_.data(), process)) return Outcome::Blocked;
      owner = 0;
      return Outcome::Done;
    }
  }
  return Outcome::Blocked;
}

Outcome Steps::set_register(int place, Wide value) {
  Number fitting = 0;
  if (!program_.domains[static_cast<std::size_t>(place)].fit(value, fitting)) return Outcome::Failed;
  next_[static_cast<std::size_t>(place)] = fitting;
  return Outcome::Done;
}

bool Steps::variable_at(const Op& op, int& variable) const {
  Wide index = 0;
  if (!evaluate(op.index, next_.data(), index) || index < 0 || index >= op.size) return false;
  variable = op.base + static_cast<int>(index);
  return true;
}

Outcome Steps::load(const Op& op, int process, bool locked) {
  Wide when = 1;
  if (op.when >= 0 && !evaluate(op.when, next_.data(), when)) return Outcome::Failed;
  if (when == 0) return set_register(op.reg, 0);
  int variable = 0;
  if (!variable_at(op, variable)) return Outcome::Failed;
  Number value = 0;
  const bool is_own = !locked && own_store(process, variable, value);
  if (!is_own) {
    if (!owns_bus(next_.data(), process)) return Outcome::Blocked;
    value = memory(variable);
  }
  const Outcome outcome = set_register(op.reg, value);
  if (outcome != Outcome::Done) return outcome;
  if (is_own)
    tell_event(Event::Kind::OwnLoad, process, variable, value);
  else
    note(process, variable, false, value);
  return outcome;
}

Outcome Steps::store(const Op& op, int process, bool locked) {
  Wide when = 1;
  if (op.when >= 0 && !evaluate(op.when, next_.data(), when)) return Outcome::Failed;
  if (when == 0) return Outcome::Done;
  if (!op.direct && !locked && op.reading == StoreReading::Separated) {
    const Outcome outcome = separate(process);
    if (outcome != Outcome::Done) return outcome;
  }
  int variable = 0;
  Wide computed = 0;
  Number value = 0;
  if (!variable_at(op, variable) || !evaluate(op.value, next_.data(), computed)) return Outcome::Failed;
  if (!program_.variables[static_cast<std::size_t>(variable)].domain.fit(computed, value)) return Outcome::Failed;
  const bool at_once = locked || op.direct || model_.buffers == Buffers::None;
  if (at_once && !locked && !owns_bus(next_.data(), process)) return Outcome::Blocked;
  if (!at_once) {
    tell_event(Event::Kind::PendingStore, process, variable, value);
    return append(process, variable, value, false);
  }
  memory(variable) = value;
  note(process, variable, true, value);
  return Outcome::Done;
}

// Write, then hand over the old value; operands are evaluated in the state before.
Outcome Steps::modify(const Op& op, int process) {
  int variable = 0;
  if (!variable_at(op, variable)) return Outcome::Failed;
  if (!owns_bus(next_.data(), process)) return Outcome::Blocked;
  const Number old = memory(variable);
  note(process, variable, false, old);  // it has read, whatever becomes of it
  Wide expected = old, operand = 0;
  if (op.expected >= 0 && !evaluate(op.expected, next_.data(), expected)) return Outcome::Failed;
  if (old == expected) {
    if (!evaluate(op.value, next_.data(), operand)) return Outcome::Failed;
    Wide fresh = operand;
    switch (op.modification) {
      case Modification::Exchange: break;
      case Modification::Add:
        if (__builtin_add_overflow(Wide{old}, operand, &fresh)) return Outcome::Failed;
        break;
      case Modification::Subtract:
        if (__builtin_sub_overflow(Wide{old}, operand, &fresh)) return Outcome::Failed;
        break;
      case Modification::And: fresh = old & operand; break;
      case Modification::Or: fresh = old | operand; break;
      case Modification::Xor: fresh = old ^ operand; break;
      case Modification::Nand: fresh = ~(old & operand); break;
      case Modification::Max: fresh = std::max<Wide>(old, operand); break;
      case Modification::Min: fresh = std::min<Wide>(old, operand); break;
    }
    Number fitting = 0;
    if (!program_.variables[static_cast<std::size_t>(variable)].domain.fit(fresh, fitting)) return Outcome::Failed;
    memory(variable) = fitting;
    note(process, variable, true, fitting);
  }
  return op.reg < 0 ? Outcome::Done : set_register(op.reg, old);
}

// The newest own pending store to the variable wins over memory.
bool Steps::own_store(int process, int variable, Number& value) const {
  for (const Buffer& buffer : layout_.buffers(process)) {
    if (buffer.variable >= 0 && buffer.variable != variable) continue;
    for (int n = static_cast<int>(next_[static_cast<std::size_t>(buffer.first)]) - 1; n >= 0; --n) {
      if (n == 0 && behind_ != nullptr && behind_->pending[static_cast<std::size_t>(process)] != 0)
        return behind_->find(process, variable, value);
      const Number* const entry = buffer.entry(next_.data(), n);
      const bool is_own = buffer.variable < 0 ? *entry == variable : !buffer.is_separator(entry);
      if (!is_own) continue;
      value = buffer.value(entry);
      return true;
    }
  }
  return false;
}

// A store or separator that the model has no room for waits; one that only the certificate has no room for leads out of it.
Outcome Steps::append(int process, int variable, Number value, bool is_separator) {
  for (const Buffer& buffer : layout_.buffers(process)) {
    if (buffer.variable >= 0 && buffer.variable != variable) continue;
    Number& length = next_[static_cast<std::size_t>(buffer.first)];
    if (model_.bound > 0) {
      Number pending = length;
      if (model_.per_variable && buffer.variable < 0) {
        pending = 0;
        for (Number n = 0; n < length; ++n) pending += *buffer.entry(next_.data(), n) == variable;
      }
      if (pending >= model_.bound) return Outcome::Blocked;
    }
    if (length >= buffer.capacity) return Outcome::Overflow;
    buffer.put(next_.data(), length, variable, value, is_separator);
    ++length;
    return Outcome::Done;
  }
  throw Unsupported("a process stores to a variable that it has no buffer for");
}

Outcome Steps::separate(int process) {
  if (model_.buffers != Buffers::PerVariable || program_.processes[static_cast<std::size_t>(process)].stored.empty())
    return Outcome::Done;
  Outcome outcome = Outcome::Done;
  for (const Buffer& buffer : layout_.buffers(process)) {
    const Outcome one = append(process, buffer.variable, 0, true);
    if (one == Outcome::Blocked) return one;
    if (one != Outcome::Done) outcome = one;
  }
  return outcome;
}

}  // namespace memfence::certificate
