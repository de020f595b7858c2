// Expressions as flat code: a postfix stream that one loop evaluates, with the commonest shapes recognised beforehand.
//
// The stream is made by engines/encode.py. Slots are absolute positions in the working state, so that an expression can
// look at memory, registers, locations and buffer lengths alike. Values have 64 bits; arithmetic is exact in 128, and an
// error beyond. Nearly all of it stays within 64 bits, so it is tried there first.
#pragma once

#include <cstdint>
#include <vector>

namespace memfence {

using Value = std::int64_t;
__extension__ using Wide = __int128;
__extension__ using WideBits = unsigned __int128;

// What is shown of a number that has no room: the nearest value. It is 0 only if the number is.
inline Value nearest_value(Wide number) {
  return number < INT64_MIN ? INT64_MIN : number > INT64_MAX ? INT64_MAX : static_cast<Value>(number);
}

enum class Code : std::int32_t {
  Const,
  Slot,                                  // one operand each
  Neg,
  Not,
  Complement,                         // unary
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Shl,
  Shr,
  And,
  Or,
  Xor,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,                       // binary
  AndThen,
  OrElse,                              // operand: where to go on if the left side decides
  Truth,                                        // to 0 or 1
  JumpIfZero,
  Jump,                             // operand: where to
  Element,                                      // operands: base slot, size; index on the stack
};

class Expression {
 public:
  Expression() = default;
  explicit Expression(std::vector<Value> code);

  // The value, or 0 with `failed` set: division by zero, bad shift, index out of bounds, beyond 128 bits.
  Wide evaluate(const Value* slots, bool& failed) const {
    switch (shape_) {
      case Shape::Const: return constant_;
      case Shape::Slot: return slots[slot_];
      case Shape::SlotOpConst: return compare(op_, slots[slot_], constant_);
      case Shape::SlotOpSlot: return compare(op_, slots[slot_], slots[other_]);
      case Shape::General: break;
    }
    return run(slots, failed);
  }

  bool is_constant() const { return shape_ == Shape::Const; }
  Value constant() const { return constant_; }
  // Every slot that the expression may read, indexed elements included.
  std::vector<int> slots_read() const;

  // A change of `slot` that can turn the expression from 0 to something else; `any`: whatever the new value is.
  struct Trigger {
    int slot;
    bool any;
    Value value;
  };
  // All of them. If `slot == constant` is only ever combined by && and ||, just these values can.
  std::vector<Trigger> triggers() const;

 private:
  enum class Shape : std::uint8_t { Const, Slot, SlotOpConst, SlotOpSlot, General };

  // Values cannot leave 128 bits here; they are compared as what they are, which is faster.
  static Wide compare(Code op, Value a, Value b) {
    switch (op) {
      case Code::Eq: return a == b;
      case Code::Ne: return a != b;
      case Code::Lt: return a < b;
      case Code::Le: return a <= b;
      case Code::Gt: return a > b;
      case Code::Ge: return a >= b;
      case Code::Add: return Wide{a} + b;
      default: return Wide{a} - b;
    }
  }
  enum class Failure : std::uint8_t { None, Undefined, Beyond };  // Beyond: the numbers have too few bits
  Wide run(const Value* slots, bool& failed) const;
  template <class Number>
  Number run_in(const Value* slots, Failure& failure) const;

  std::vector<Value> code_;
  Shape shape_ = Shape::Const;
  Code op_ = Code::Const;
  int slot_ = 0, other_ = 0;
  Value constant_ = 0;
};

}  // namespace memfence
