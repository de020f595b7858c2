#include "machine/expression.hpp"

#include <climits>

#include "test.hpp"

using namespace memfence;

namespace {

constexpr Value code(Code c) { return static_cast<Value>(c); }
constexpr Value kConst = code(Code::Const), kSlot = code(Code::Slot);

struct Result {
  Wide value;
  bool failed;
};

Result evaluate(std::vector<Value> text, std::vector<Value> slots = {}) {
  bool failed = false;
  const Wide value = Expression(std::move(text)).evaluate(slots.data(), failed);
  return {value, failed};
}

Result binary(Code op, Value a, Value b) {
  // A conditional around it keeps the expression from being recognised as a simple shape.
  return evaluate({kConst, 1, code(Code::JumpIfZero), 11, kConst, a, kConst, b, code(op), code(Code::Jump), 13, kConst, 99});
}

}  // namespace

TEST(recognised_shapes_and_the_general_loop_agree) {
  const std::vector<Value> slots{7, -3};
  for (const Code op : {Code::Eq, Code::Ne, Code::Lt, Code::Le, Code::Gt, Code::Ge, Code::Add, Code::Sub}) {
    const Wide general = binary(op, 7, -3).value;
    CHECK(evaluate({kSlot, 0, kConst, -3, code(op)}, slots).value == general);
    CHECK(evaluate({kSlot, 0, kSlot, 1, code(op)}, slots).value == general);
    CHECK(evaluate({kConst, 7, kSlot, 1, code(op)}, slots).value == general);
  }
}

TEST(division_truncates_and_fails_on_zero) {
  CHECK(binary(Code::Div, -7, 2).value == -3);
  CHECK(binary(Code::Mod, -7, 2).value == -1);
  CHECK(binary(Code::Div, 1, 0).failed);
  CHECK(binary(Code::Mod, 1, 0).failed);
}

TEST(shifts_outside_32_bits_fail) {
  CHECK(binary(Code::Shl, 3, 4).value == 48);
  CHECK(binary(Code::Shr, -16, 2).value == -4);
  CHECK(binary(Code::Shl, 1, 32).failed);
  CHECK(binary(Code::Shr, 1, -1).failed);
}

TEST(arithmetic_beyond_64_bits_fails) {
  const Value most = INT_MAX;
  CHECK(!evaluate({kConst, most, kConst, most, code(Code::Mul)}).failed);
  CHECK(evaluate({kConst, most, kConst, most, code(Code::Mul), kConst, most, code(Code::Mul)}).failed);
}

TEST(conjunction_and_disjunction_look_at_the_right_side_only_if_they_must) {
  const std::vector<Value> divide{kConst, 1, kConst, 0, code(Code::Div)};
  const auto with = [&](Code op, Value left) {
    std::vector<Value> text{kConst, left, code(op), 0};
    text.insert(text.end(), divide.begin(), divide.end());
    text.push_back(code(Code::Truth));
    text[3] = static_cast<Value>(text.size());
    return evaluate(text);
  };
  CHECK(with(Code::AndThen, 0).value == 0 && !with(Code::AndThen, 0).failed);
  CHECK(with(Code::OrElse, 5).value == 1 && !with(Code::OrElse, 5).failed);
  CHECK(with(Code::AndThen, 5).failed);
  CHECK(with(Code::OrElse, 0).failed);
}

TEST(an_element_outside_its_array_fails) {
  const std::vector<Value> slots{10, 20, 30, 1};
  const auto element = [&](Value index) { return evaluate({kConst, index, code(Code::Element), 1, 2}, slots); };
  CHECK(element(0).value == 20 && element(1).value == 30);
  CHECK(element(2).failed && element(-1).failed);
}

TEST(every_slot_that_may_be_read_is_listed_once) {
  const Expression e({kSlot, 4, kSlot, 1, code(Code::Element), 2, 3, code(Code::Add), kSlot, 4, code(Code::Add)});
  CHECK((e.slots_read() == std::vector<int>{1, 2, 3, 4}));
}

TEST(only_the_values_of_positive_equalities_can_make_an_expression_true) {
  // s0 == 3 && s1 == 4
  const Expression both(
      {kSlot, 0, kConst, 3, code(Code::Eq), code(Code::AndThen), 13, kSlot, 1, kConst, 4, code(Code::Eq), code(Code::Truth)});
  const auto found = both.triggers();
  CHECK(found.size() == 2);
  CHECK(found[0].slot == 0 && !found[0].any && found[0].value == 3);
  CHECK(found[1].slot == 1 && !found[1].any && found[1].value == 4);
}

TEST(any_change_can_make_other_expressions_true) {
  const Expression negated({kSlot, 0, kConst, 3, code(Code::Eq), code(Code::Not)});
  CHECK(negated.triggers().size() == 1 && negated.triggers()[0].any);
  const Expression less({kSlot, 0, kConst, 3, code(Code::Lt)});
  CHECK(less.triggers().size() == 1 && less.triggers()[0].any);
}
