#include "certificate/steps.hpp"

namespace memfence::certificate {

namespace {

using Kind = Node::Kind;

bool combine(Kind kind, Number a, Number b, Number& out) {
  switch (kind) {
    case Kind::Add: return !__builtin_add_overflow(a, b, &out);
    case Kind::Subtract: return !__builtin_sub_overflow(a, b, &out);
    case Kind::Multiply: return !__builtin_mul_overflow(a, b, &out);
    case Kind::Divide:
    case Kind::Remainder:
      if (b == 0) return false;
      if (a == INT64_MIN && b == -1) throw Unsupported("a quotient has more than 64 bits");
      out = kind == Kind::Divide ? a / b : a % b;
      return true;
    case Kind::ShiftLeft: return b >= 0 && b < 32 && !__builtin_mul_overflow(a, Number{1} << b, &out);
    case Kind::ShiftRight:
      if (b < 0 || b >= 32) return false;
      out = a >> b;
      return true;
    case Kind::BitAnd: out = a & b; return true;
    case Kind::BitOr: out = a | b; return true;
    case Kind::BitXor: out = a ^ b; return true;
    case Kind::Equal: out = a == b; return true;
    case Kind::Unequal: out = a != b; return true;
    case Kind::Less: out = a < b; return true;
    case Kind::LessEqual: out = a <= b; return true;
    case Kind::Greater: out = a > b; return true;
    case Kind::GreaterEqual: out = a >= b; return true;
    default: throw Unsupported("not an operator");
  }
}

}  // namespace

bool Steps::evaluate(int expression, const Number* state, Number& out) const {
  const Node& n = program_.nodes[static_cast<std::size_t>(expression)];
  switch (n.kind) {
    case Kind::Constant: out = n.value; return true;
    case Kind::Place: out = state[n.place]; return true;
    case Kind::Memory: {
      Number index = 0;
      if (!evaluate(n.a, state, index) || index < 0 || index >= n.value) return false;
      out = state[n.place + index];
      return true;
    }
    case Kind::At: out = n.locations[static_cast<std::size_t>(state[n.place])] != 0 ? 1 : 0; return true;
    case Kind::Empty: out = is_drained(state, n.place); return true;
    case Kind::Negate: return evaluate(n.a, state, out) && !__builtin_sub_overflow(Number{0}, out, &out);
    case Kind::Not:
      if (!evaluate(n.a, state, out)) return false;
      out = out == 0;
      return true;
    case Kind::Complement:
      if (!evaluate(n.a, state, out)) return false;
      out = ~out;
      return true;
    case Kind::Conditional: {
      Number condition = 0;
      return evaluate(n.a, state, condition) && evaluate(condition != 0 ? n.b : n.c, state, out);
    }
    case Kind::And:
    case Kind::Or:
      if (!evaluate(n.a, state, out)) return false;
      if ((out != 0) == (n.kind == Kind::Or)) {
        out = n.kind == Kind::Or;
        return true;
      }
      if (!evaluate(n.b, state, out)) return false;
      out = out != 0;
      return true;
    default: {
      Number a = 0, b = 0;
      return evaluate(n.a, state, a) && evaluate(n.b, state, b) && combine(n.kind, a, b, out);
    }
  }
}

}  // namespace memfence::certificate
