#include <set>

#include "search/compact_set.hpp"
#include "search/team.hpp"
#include "test.hpp"

using namespace memfence;

namespace {

std::uint64_t random_number(std::uint64_t& seed) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  return seed ^= seed << 17;
}

std::vector<std::uint8_t> bytes_of(std::uint64_t number, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(number >> (8 * (i % 8)));
  return bytes;
}

// Fields that need one word, two, or three.
Layout layout_of(int fields, Value most) { return Layout(std::vector<Slot>(static_cast<std::size_t>(fields), Slot{0, most})); }

}  // namespace

TEST(a_quotient_table_is_a_set) {
  std::uint64_t seed = 88172645463325252u;
  for (const unsigned bits : {0u, 3u, 12u, 20u, 40u, 58u})
    for (const std::size_t rest : {0u, 1u, 11u}) {
      QuotientTable table(bits, rest);
      std::set<std::pair<std::uint64_t, std::vector<std::uint8_t>>> expected, found;
      for (int i = 0; i < 6'000; ++i) {
        const std::uint64_t number = random_number(seed) & ((std::uint64_t{1} << bits) - 1);
        const auto others = bytes_of(random_number(seed) % 3, rest);
        CHECK(table.insert(number, others.data()) == expected.emplace(number, others).second);
        CHECK(!table.insert(number, others.data()));
      }
      CHECK(table.count() == expected.size());
      table.for_each([&](std::uint64_t number, const std::uint8_t* others) {
        found.emplace(number, std::vector<std::uint8_t>(others, others + rest));
      });
      CHECK(found == expected);
    }
}

TEST(numbers_that_are_far_from_random_are_kept_apart_too) {
  QuotientTable table(58, 0);
  const std::uint8_t nothing = 0;
  for (std::uint64_t i = 0; i < 50'000; ++i) CHECK(table.insert(i << 40, &nothing));
  for (std::uint64_t i = 0; i < 50'000; ++i) CHECK(!table.insert(i << 40, &nothing));
}

TEST(a_record_gives_back_its_state) {
  std::uint64_t seed = 1;
  for (const int fields : {1, 2, 9, 13, 30}) {
    const Layout layout = layout_of(fields, 1000);
    const RecordFormat format(layout, true);
    std::vector<std::uint8_t> record(format.bytes() + RecordFormat::kSlack);
    std::vector<Word> again(layout.words());
    for (int i = 0; i < 2'000; ++i) {
      std::vector<Value> values;
      for (int f = 0; f < fields; ++f) values.push_back(static_cast<Value>(random_number(seed) % 1001));
      std::vector<Word> state(layout.words());
      layout.pack(values.data(), state.data());
      std::vector<Word> mixed = state;
      format.mix(mixed.data());
      format.write(mixed.data(), record.data());
      format.write_tag(record.data(), 77);
      format.read(record.data(), again.data());
      CHECK(again == state && format.tag(record.data()) == 77);
      format.join(format.first(record.data()), format.rest(record.data()), again.data());
      CHECK(again == state);
    }
  }
}

TEST(a_compact_set_has_what_was_put_in) {
  for (const int fields : {1, 3, 8}) {
    const Layout layout = layout_of(fields, 1'000'000);
    const RecordFormat format(layout);
    CompactSet set(format);
    std::set<std::vector<Word>> expected, found;
    std::vector<std::uint8_t> record(format.bytes() + RecordFormat::kSlack);
    for (Value i = 0; i < 30'000; ++i) {
      std::vector<Value> values(static_cast<std::size_t>(fields), 0);
      values[static_cast<std::size_t>(i % fields)] = i;
      std::vector<Word> state(layout.words());
      layout.pack(values.data(), state.data());
      std::vector<Word> mixed = state;
      format.mix(mixed.data());
      format.write(mixed.data(), record.data());
      CHECK(set.insert(set.part_of(mixed[0]), record.data()) == expected.insert(state).second);
    }
    set.for_each(layout.words(), [&](const Word* state) { found.emplace(state, state + layout.words()); });
    CHECK(found == expected);
  }
}

TEST(a_team_does_every_task_once_and_hands_on_what_is_thrown) {
  Team team(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> done(50);
    team.run(done.size(), [&](std::size_t, std::size_t number) { ++done[number]; });
    for (const auto& times : done) CHECK(times == 1);
  }
  bool is_thrown = false;
  try {
    team.run(10, [](std::size_t, std::size_t number) {
      if (number == 7) throw std::bad_alloc();
    });
  } catch (const std::bad_alloc&) {
    is_thrown = true;
  }
  CHECK(is_thrown);
}
