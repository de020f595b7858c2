#include "machine/expression.hpp"

#include <cstdint>

#include "machine/machine.hpp"
#include "test.hpp"

using namespace memfence;

namespace {

constexpr Value code(Code c) { return static_cast<Value>(c); }
constexpr Wide kLeast = static_cast<Wide>(WideBits{1} << 127);
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

TEST(shifts_of_128_bits_or_more_fail) {
  CHECK(binary(Code::Shl, 3, 4).value == 48);
  CHECK(binary(Code::Shr, -16, 2).value == -4);
  CHECK(binary(Code::Shl, 1, 62).value == Wide{1} << 62);
  CHECK(binary(Code::Shl, 1, 63).value == Wide{1} << 63);
  CHECK(binary(Code::Shl, -1, 63).value == INT64_MIN);
  CHECK(binary(Code::Shl, 1, 126).value == Wide{1} << 126);
  CHECK(binary(Code::Shl, -1, 127).value == kLeast && !binary(Code::Shl, -1, 127).failed);
  CHECK(binary(Code::Shl, 0, 127).value == 0 && !binary(Code::Shl, 0, 127).failed);
  CHECK(binary(Code::Shl, 1, 127).failed);
  CHECK(binary(Code::Shl, INT64_MAX, 65).failed);
  CHECK(binary(Code::Shl, INT64_MIN, 64).value == kLeast);
  for (const Value by : {63, 64, 127}) {
    CHECK(binary(Code::Shr, INT64_MIN, by).value == -1);
    CHECK(binary(Code::Shr, INT64_MAX, by).value == 0);
  }
  for (const Code op : {Code::Shl, Code::Shr})
    for (const Value by : {Value{-1}, Value{128}, INT64_MIN, INT64_MAX, Value{1} << 32}) CHECK(binary(op, 1, by).failed);
}

TEST(arithmetic_is_exact_in_128_bits_and_fails_beyond) {
  CHECK(binary(Code::Mul, INT64_MIN, INT64_MIN).value == Wide{1} << 126);
  CHECK(binary(Code::Mul, INT64_MAX, INT64_MIN).value == Wide{INT64_MAX} * INT64_MIN);
  CHECK(binary(Code::Add, INT64_MAX, INT64_MAX).value == Wide{INT64_MAX} * 2);
  CHECK(binary(Code::Sub, INT64_MIN, INT64_MAX).value == Wide{INT64_MIN} - INT64_MAX);
  const std::vector<Value> product{kConst, INT64_MIN, kConst, INT64_MIN, code(Code::Mul)};  // 2 to the power of 126
  const auto with = [&](std::vector<Value> rest) {
    std::vector<Value> text = product;
    text.insert(text.end(), rest.begin(), rest.end());
    return evaluate(text);
  };
  CHECK(with({kConst, 2, code(Code::Mul)}).failed);
  CHECK(with({kConst, -2, code(Code::Mul)}).value == kLeast);
  CHECK(with({kConst, -2, code(Code::Mul), code(Code::Neg)}).failed);
  CHECK(with({kConst, -2, code(Code::Mul), kConst, 1, code(Code::Sub)}).failed);
  CHECK(with({kConst, -2, code(Code::Mul), kConst, -1, code(Code::Div)}).failed);
  CHECK(with({kConst, -2, code(Code::Mul), kConst, -1, code(Code::Mod)}).value == 0);
  CHECK(with({kConst, -2, code(Code::Mul), code(Code::Complement)}).value == -(kLeast + 1));
  CHECK(with({kConst, 64, code(Code::Shr)}).value == Wide{1} << 62);
}

TEST(the_least_value_divides_without_a_trap) {
  CHECK(binary(Code::Div, INT64_MIN, -1).value == Wide{1} << 63);
  CHECK(binary(Code::Mod, INT64_MIN, -1).value == 0 && !binary(Code::Mod, INT64_MIN, -1).failed);
  CHECK(evaluate({kSlot, 0, code(Code::Neg)}, {INT64_MIN}).value == Wide{1} << 63);
}

TEST(recognised_shapes_leave_64_bits_exactly) {
  const std::vector<Value> slots{INT64_MAX, INT64_MIN};
  CHECK(evaluate({kSlot, 0, kConst, 1, code(Code::Add)}, slots).value == Wide{1} << 63);
  CHECK(evaluate({kSlot, 1, kSlot, 0, code(Code::Sub)}, slots).value == Wide{INT64_MIN} - INT64_MAX);
  CHECK(evaluate({kSlot, 1, kSlot, 0, code(Code::Lt)}, slots).value == 1);
  CHECK(evaluate({kSlot, 1, kConst, INT64_MIN, code(Code::Eq)}, slots).value == 1);
}

TEST(what_is_decided_on_the_left_stays_so_when_numbers_need_more_bits) {
  // (2 to the power of 126) || 1 / 0, and (2 to the power of 126) * 4 || 1
  CHECK(evaluate({kConst, INT64_MIN, kConst, INT64_MIN, code(Code::Mul), code(Code::OrElse), 13, kConst, 1, kConst, 0,
                  code(Code::Div), code(Code::Truth)})
            .value == 1);
  CHECK(evaluate({kConst, INT64_MIN, kConst, INT64_MIN, code(Code::Mul), kConst, 4, code(Code::Mul), code(Code::OrElse), 13,
                  kConst, 1, code(Code::Truth)})
            .failed);
}

TEST(values_wrap_to_64_bits_from_any_number) {
  const Slot whole{INT64_MIN, INT64_MAX, true}, positive{0, INT64_MAX, true}, odd{-5, INT64_MAX - 2, true};
  Value out = 0;
  CHECK(whole.fit(Wide{INT64_MAX} + 1, out) && out == INT64_MIN);
  CHECK(whole.fit(Wide{INT64_MIN} - 1, out) && out == INT64_MAX);
  CHECK(whole.fit(kLeast, out) && out == 0);
  CHECK(whole.fit(-(kLeast + 1), out) && out == -1);
  CHECK(positive.fit(-1, out) && out == INT64_MAX);
  CHECK(positive.fit(kLeast, out) && out == 0);
  CHECK(odd.fit(Wide{INT64_MAX} - 1, out) && out == -5);
  CHECK(odd.fit(-6, out) && out == INT64_MAX - 2);
  CHECK(!(Slot{0, INT64_MAX}).fit(Wide{INT64_MAX} + 1, out));
  CHECK((Slot{INT64_MIN, INT64_MAX}).fit(INT64_MIN, out) && out == INT64_MIN);
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
