#include <algorithm>
#include <type_traits>

#include "certificate/steps.hpp"

namespace memfence::certificate {

namespace {

using Kind = Node::Kind;

// Beyond: the number does not fit, and has to be computed with more bits, or is an error if there are none.
enum class Result : std::uint8_t { Done, Undefined, Beyond };

constexpr int kFarthestShift = 127;

// Whether shifting back gives the number again: then no bit was lost.
template <class N>
Result shift_left(N a, N by, N& out) {
  using Bits = std::conditional_t<sizeof(N) == sizeof(Number), std::uint64_t, WideBits>;
  if (by < 0 || by > kFarthestShift) return Result::Undefined;
  if (by >= static_cast<int>(8 * sizeof(N))) return Result::Beyond;
  out = static_cast<N>(static_cast<Bits>(a) << static_cast<int>(by));
  return out >> static_cast<int>(by) == a ? Result::Done : Result::Beyond;
}

template <class N>
Result shift_right(N a, N by, N& out) {
  if (by < 0 || by > kFarthestShift) return Result::Undefined;
  out = a >> std::min(static_cast<int>(by), static_cast<int>(8 * sizeof(N)) - 1);
  return Result::Done;
}

template <class N>
Result divide(N a, N b, N& out) {
  if (b == 0) return Result::Undefined;
  if (b == -1) return __builtin_sub_overflow(N{0}, a, &out) ? Result::Beyond : Result::Done;  // the least has no opposite
  out = a / b;
  return Result::Done;
}

template <class N>
Result combine(Kind kind, N a, N b, N& out) {
  const auto unless = [](bool overflows) { return overflows ? Result::Beyond : Result::Done; };
  switch (kind) {
    case Kind::Add: return unless(__builtin_add_overflow(a, b, &out));
    case Kind::Subtract: return unless(__builtin_sub_overflow(a, b, &out));
    case Kind::Multiply: return unless(__builtin_mul_overflow(a, b, &out));
    case Kind::Divide: return divide(a, b, out);
    case Kind::Remainder:
      if (b == 0) return Result::Undefined;
      out = b == -1 ? N{0} : a % b;
      return Result::Done;
    case Kind::ShiftLeft: return shift_left(a, b, out);
    case Kind::ShiftRight: return shift_right(a, b, out);
    case Kind::BitAnd: out = a & b; return Result::Done;
    case Kind::BitOr: out = a | b; return Result::Done;
    case Kind::BitXor: out = a ^ b; return Result::Done;
    case Kind::Equal: out = a == b; return Result::Done;
    case Kind::Unequal: out = a != b; return Result::Done;
    case Kind::Less: out = a < b; return Result::Done;
    case Kind::LessEqual: out = a <= b; return Result::Done;
    case Kind::Greater: out = a > b; return Result::Done;
    case Kind::GreaterEqual: out = a >= b; return Result::Done;
    default: throw Unsupported("not an operator");
  }
}

// One evaluation with numbers of one width.
template <class N>
class Evaluation {
 public:
  Evaluation(const Steps& steps, const std::vector<Node>& nodes, const Number* state)
      : steps_(steps), nodes_(nodes), state_(state) {}

  Result value(int expression, N& out) const {
    const Node& n = nodes_[static_cast<std::size_t>(expression)];
    switch (n.kind) {
      case Kind::Constant: out = n.value; return Result::Done;
      case Kind::Place: out = state_[n.place]; return Result::Done;
      case Kind::Memory: {
        N index = 0;
        const Result result = value(n.a, index);
        if (result != Result::Done) return result;
        if (index < 0 || index >= n.value) return Result::Undefined;
        out = state_[n.place + static_cast<int>(index)];
        return Result::Done;
      }
      case Kind::At: out = n.locations[static_cast<std::size_t>(state_[n.place])] != 0 ? 1 : 0; return Result::Done;
      case Kind::Empty: out = steps_.is_drained(state_, n.place); return Result::Done;
      case Kind::Negate: {
        const Result result = value(n.a, out);
        if (result != Result::Done) return result;
        return __builtin_sub_overflow(N{0}, out, &out) ? Result::Beyond : Result::Done;
      }
      case Kind::Not: {
        const Result result = value(n.a, out);
        out = out == 0;
        return result;
      }
      case Kind::Complement: {
        const Result result = value(n.a, out);
        out = ~out;
        return result;
      }
      case Kind::Conditional: {
        N condition = 0;
        const Result result = value(n.a, condition);
        return result != Result::Done ? result : value(condition != 0 ? n.b : n.c, out);
      }
      case Kind::And:
      case Kind::Or: {
        Result result = value(n.a, out);
        if (result == Result::Done && (out != 0) == (n.kind == Kind::And)) result = value(n.b, out);
        out = out != 0;
        return result;
      }
      default: {
        N a = 0, b = 0;
        Result result = value(n.a, a);
        if (result == Result::Done) result = value(n.b, b);
        return result == Result::Done ? combine(n.kind, a, b, out) : result;
      }
    }
  }

 private:
  const Steps& steps_;
  const std::vector<Node>& nodes_;
  const Number* state_;
};

}  // namespace

// Nearly everything fits into 64 bits, which is faster: the others are computed again.
bool Steps::compute(int expression, const Number* state, Wide& out) const {
  Number value = 0;
  Result result = Evaluation<Number>(*this, program_.nodes, state).value(expression, value);
  out = value;
  if (result == Result::Beyond) result = Evaluation<Wide>(*this, program_.nodes, state).value(expression, out);
  return result == Result::Done;
}

}  // namespace memfence::certificate
