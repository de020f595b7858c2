#include "machine/layout.hpp"

#include <climits>

#include "test.hpp"

using namespace memfence;

namespace {

void check_round_trip(const Layout& layout, const std::vector<Value>& values) {
  std::vector<Word> packed(layout.words());
  layout.pack(values.data(), packed.data());
  std::vector<Value> back(values.size(), 12345);
  layout.unpack(packed.data(), back.data());
  CHECK(back == values);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) CHECK(layout.read(packed.data(), static_cast<int>(i)) == values[i]);
}

}  // namespace

TEST(a_slot_takes_just_the_bits_of_its_range) {
  const Layout layout({Slot{0, 1}, Slot{-1, 2}, Slot{5, 5}, Slot{0, 255}, Slot{0, 9, false, false}});
  CHECK(layout.bits() == 1 + 2 + 0 + 8);
  CHECK(layout.words() == 1);
  check_round_trip(layout, {1, -1, 5, 200, 0});
  check_round_trip(layout, {0, 2, 5, 255, 0});
}

TEST(no_field_crosses_a_word) {
  std::vector<Slot> slots(7, Slot{INT_MIN, INT_MAX});
  slots.push_back(Slot{0, 1});
  const Layout layout(slots);
  CHECK(layout.words() == 4);
  check_round_trip(layout, {INT_MIN, INT_MAX, -1, 0, 1, 7, -7, 1});
}

TEST(a_field_of_64_bits_takes_a_word) {
  const Layout layout({Slot{INT64_MIN, INT64_MAX}, Slot{0, 1}, Slot{INT64_MIN, -1}, Slot{INT64_MAX - 1, INT64_MAX}});
  CHECK(layout.bits() == 64 + 1 + 63 + 1);
  CHECK(layout.words() == 3);
  for (const Value value : {INT64_MIN, INT64_MIN + 1, Value{INT_MIN}, Value{-1}, Value{0}, Value{INT_MAX}, INT64_MAX})
    check_round_trip(layout, {value, 1, std::min(value, Value{-1}), INT64_MAX});
}

TEST(small_fields_fill_the_gaps_of_large_ones) {
  std::vector<Slot> slots;
  for (int i = 0; i < 4; ++i) {
    slots.push_back(Slot{0, (1 << 20) - 1});
    slots.push_back(Slot{0, (1 << 11) - 1});
  }
  CHECK(Layout(slots).words() == 2);
}

TEST(writing_a_field_changes_nothing_else) {
  const Layout layout({Slot{0, 7}, Slot{-4, 3}, Slot{0, 100}, Slot{0, 1}});
  std::vector<Value> values{5, -4, 77, 1};
  std::vector<Word> packed(layout.words());
  layout.pack(values.data(), packed.data());
  layout.write(packed.data(), 1, 3);
  std::vector<Value> back(4);
  layout.unpack(packed.data(), back.data());
  CHECK((back == std::vector<Value>{5, 3, 77, 1}));
}

TEST(a_state_without_bits_is_one_word) {
  const Layout layout({Slot{3, 3}});
  CHECK(layout.words() == 1 && layout.bits() == 0);
  check_round_trip(layout, {3});
}
