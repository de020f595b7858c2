#include "machine/expression.hpp"

#include <algorithm>
#include <type_traits>

namespace memfence {

namespace {

bool is_simple(Code op) {
  switch (op) {
    case Code::Eq:
    case Code::Ne:
    case Code::Lt:
    case Code::Le:
    case Code::Gt:
    case Code::Ge:
    case Code::Add:
    case Code::Sub: return true;
    default: return false;
  }
}

}  // namespace

Expression::Expression(std::vector<Value> code) : code_(std::move(code)) {
  const auto at = [&](std::size_t i) { return static_cast<Code>(code_[i]); };
  if (code_.size() == 2 && at(0) == Code::Const) {
    shape_ = Shape::Const;
    constant_ = code_[1];
  } else if (code_.size() == 2 && at(0) == Code::Slot) {
    shape_ = Shape::Slot;
    slot_ = static_cast<int>(code_[1]);
  } else if (code_.size() == 5 && at(0) == Code::Slot && at(2) == Code::Const && is_simple(at(4))) {
    shape_ = Shape::SlotOpConst;
    slot_ = static_cast<int>(code_[1]);
    constant_ = code_[3];
    op_ = at(4);
  } else if (code_.size() == 5 && at(0) == Code::Slot && at(2) == Code::Slot && is_simple(at(4))) {
    shape_ = Shape::SlotOpSlot;
    slot_ = static_cast<int>(code_[1]);
    other_ = static_cast<int>(code_[3]);
    op_ = at(4);
  } else {
    shape_ = Shape::General;
  }
}

namespace {

constexpr int kWidest = 128;  // a shift by as many bits is an error

template <class Number>
Number shifted_right(Number a, int by) {
  constexpr int width = 8 * sizeof(Number);
  return a >> (by < width ? by : width - 1);
}

// Whether `a` times 2 to the power of `by` fits.
template <class Number>
bool shift_left(Number a, int by, Number& out) {
  using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, WideBits>;
  if (by >= 8 * static_cast<int>(sizeof(Number))) return false;
  out = static_cast<Number>(static_cast<Bits>(a) << by);
  return out >> by == a;
}

}  // namespace

template <class Number>
Number Expression::run_in(const Value* slots, Failure& failure) const {
  Number stack[256];  // encode.py keeps expressions shallower than this
  std::size_t top = 0;
  const auto fail = [&](Failure why) {
    failure = why;
    return Number{0};
  };
  for (std::size_t pc = 0; pc < code_.size();) {
    const Code op = static_cast<Code>(code_[pc++]);
    switch (op) {
      case Code::Const: stack[top++] = code_[pc++]; break;
      case Code::Slot: stack[top++] = slots[code_[pc++]]; break;
      case Code::Neg:
        if (__builtin_sub_overflow(Number{0}, stack[top - 1], &stack[top - 1])) return fail(Failure::Beyond);
        break;
      case Code::Not: stack[top - 1] = stack[top - 1] == 0; break;
      case Code::Complement: stack[top - 1] = ~stack[top - 1]; break;
      case Code::Truth: stack[top - 1] = stack[top - 1] != 0; break;
      case Code::AndThen:
      case Code::OrElse: {
        const bool decided = (stack[top - 1] != 0) == (op == Code::OrElse);
        if (decided) {
          stack[top - 1] = op == Code::OrElse;
          pc = static_cast<std::size_t>(code_[pc]);
        } else {
          --top;
          ++pc;
        }
        break;
      }
      case Code::JumpIfZero: {
        const bool zero = stack[--top] == 0;
        pc = zero ? static_cast<std::size_t>(code_[pc]) : pc + 1;
        break;
      }
      case Code::Jump: pc = static_cast<std::size_t>(code_[pc]); break;
      case Code::Element: {
        const Number index = stack[top - 1];
        if (index < 0 || index >= code_[pc + 1]) return fail(Failure::Undefined);
        stack[top - 1] = slots[code_[pc] + static_cast<Value>(index)];
        pc += 2;
        break;
      }
      default: {
        const Number b = stack[--top], a = stack[top - 1];
        Number& out = stack[top - 1];
        switch (op) {
          case Code::Add:
            if (__builtin_add_overflow(a, b, &out)) return fail(Failure::Beyond);
            break;
          case Code::Sub:
            if (__builtin_sub_overflow(a, b, &out)) return fail(Failure::Beyond);
            break;
          case Code::Mul:
            if (__builtin_mul_overflow(a, b, &out)) return fail(Failure::Beyond);
            break;
          case Code::Div:
            if (b == 0) return fail(Failure::Undefined);
            // The least number has no opposite, and the processor traps.
            if (b != -1)
              out = a / b;
            else if (__builtin_sub_overflow(Number{0}, a, &out))
              return fail(Failure::Beyond);
            break;
          case Code::Mod:
            if (b == 0) return fail(Failure::Undefined);
            out = b == -1 ? Number{0} : a % b;
            break;
          case Code::Shl:
            if (b < 0 || b >= kWidest) return fail(Failure::Undefined);
            if (!shift_left(a, static_cast<int>(b), out)) return fail(Failure::Beyond);
            break;
          case Code::Shr:
            if (b < 0 || b >= kWidest) return fail(Failure::Undefined);
            out = shifted_right(a, static_cast<int>(b));
            break;
          case Code::And: out = a & b; break;
          case Code::Or: out = a | b; break;
          case Code::Xor: out = a ^ b; break;
          case Code::Eq: out = a == b; break;
          case Code::Ne: out = a != b; break;
          case Code::Lt: out = a < b; break;
          case Code::Le: out = a <= b; break;
          case Code::Gt: out = a > b; break;
          default: out = a >= b; break;
        }
      }
    }
  }
  return stack[0];
}

Wide Expression::run(const Value* slots, bool& failed) const {
  Failure failure = Failure::None;
  Wide value = run_in<Value>(slots, failure);
  if (failure == Failure::Beyond) [[unlikely]] {
    failure = Failure::None;
    value = run_in<Wide>(slots, failure);
  }
  failed = failed || failure != Failure::None;
  return value;
}

std::vector<Expression::Trigger> Expression::triggers() const {
  std::vector<Trigger> equalities;
  for (std::size_t pc = 0; pc < code_.size();) {
    const auto is = [&](std::size_t offset, Code op) {
      return pc + offset < code_.size() && static_cast<Code>(code_[pc + offset]) == op;
    };
    if (is(0, Code::Slot) && is(2, Code::Const) && is(4, Code::Eq)) {
      equalities.push_back({static_cast<int>(code_[pc + 1]), false, code_[pc + 3]});
      pc += 5;
    } else if (is(0, Code::AndThen) || is(0, Code::OrElse)) {
      pc += 2;
    } else if (is(0, Code::Truth)) {
      pc += 1;
    } else {
      std::vector<Trigger> all;
      for (const int slot : slots_read()) all.push_back({slot, true, 0});
      return all;
    }
  }
  return equalities;
}

std::vector<int> Expression::slots_read() const {
  std::vector<int> found;
  for (std::size_t pc = 0; pc < code_.size();) {
    const Code op = static_cast<Code>(code_[pc++]);
    switch (op) {
      case Code::Slot: found.push_back(static_cast<int>(code_[pc++])); break;
      case Code::Element:
        for (Value i = 0; i < code_[pc + 1]; ++i) found.push_back(static_cast<int>(code_[pc] + i));
        pc += 2;
        break;
      case Code::Const:
      case Code::AndThen:
      case Code::OrElse:
      case Code::JumpIfZero:
      case Code::Jump: ++pc; break;
      default: break;
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace memfence
