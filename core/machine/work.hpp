// The working state: one value a slot, changed in place, with a log that undoes the changes. A successor is then the
// parent's packed words plus the few fields in the log: no copy of the whole state is ever made.
#pragma once

#include "machine/machine.hpp"
#include "machine/own_lines.hpp"

namespace memfence {

class Work {
 public:
  explicit Work(std::size_t slots) : slots_(slots, 0) { log_.reserve(64); }

  const Value* data() const { return slots_.data(); }
  Value* data() { return slots_.data(); }
  Value operator[](int slot) const { return slots_[static_cast<std::size_t>(slot)]; }

  void set(int slot, Value value) {
    Value& place = slots_[static_cast<std::size_t>(slot)];
    if (place == value) return;
    log_.push_back({slot, place});
    place = value;
  }

  struct Change {
    int slot;
    Value before;
  };
  const OwnVector<Change>& log() const { return log_; }
  std::size_t mark() const { return log_.size(); }
  void rollback(std::size_t mark = 0) {
    while (log_.size() > mark) {
      slots_[static_cast<std::size_t>(log_.back().slot)] = log_.back().before;
      log_.pop_back();
    }
  }
  // Forget the log: the present values become the base.
  void settle() { log_.clear(); }

 private:
  OwnVector<Value> slots_;
  OwnVector<Change> log_;
};

}  // namespace memfence
