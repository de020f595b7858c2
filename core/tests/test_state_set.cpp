#include "search/state_set.hpp"

#include <thread>

#include "test.hpp"

using namespace memfence;

namespace {

// A distinct state of `words` words for every number.
std::vector<Word> numbered(std::uint64_t number, std::size_t words) {
  std::vector<Word> state(words, 0);
  state[number % words] = number + 1;
  return state;
}

StateSet::Inserted insert(StateSet& set, const std::vector<Word>& state, Index parent, Index place) {
  return set.insert(state.data(), hash_words(state.data(), state.size()), Link(parent, 0), place);
}

}  // namespace

TEST(a_state_is_found_again_under_its_index) {
  for (const std::size_t words : {1u, 2u, 5u}) {
    StateSet set(words);
    set.reserve(1000);
    for (Index i = 0; i < 1000; ++i) {
      const auto inserted = insert(set, numbered(i, words), i / 2, i);
      CHECK(inserted.is_new && inserted.index == i);
    }
    for (Index i = 0; i < 1000; ++i) {
      const auto again = insert(set, numbered(i, words), 7, 1000);
      CHECK(!again.is_new && again.index == i);
      CHECK(set.parent(i) == i / 2);
    }
    const auto absent = numbered(5000, words);
    CHECK(set.find(absent.data(), hash_words(absent.data(), words)) == kNoIndex);
  }
}

TEST(states_with_the_same_hash_are_told_apart) {
  StateSet set(1);
  set.reserve(10);
  for (Index i = 0; i < 10; ++i) {
    const Word state = i;
    CHECK(set.insert(&state, 42, Link::none(), i).is_new);
  }
  for (Index i = 0; i < 10; ++i) {
    const Word state = i;
    CHECK(set.find(&state, 42) == i);
  }
}

TEST(no_state_is_lost_when_the_table_grows) {
  constexpr Index kStates = 20'000;
  StateSet set(2, 6);
  set.reserve(2 * kStates);
  Index end = 0;
  for (Index i = 0; i < kStates; ++i) {
    if (end * 2 >= set.capacity()) set.grow();
    CHECK(insert(set, numbered(i, 2), kNoIndex, end).is_new);
    end += 2;  // every other place stays a hole
  }
  CHECK(set.capacity() >= kStates);
  for (Index i = 0; i < kStates; ++i) {
    const auto state = numbered(i, 2);
    CHECK(set.find(state.data(), hash_words(state.data(), 2)) == 2 * i);
  }
}

TEST(counted_states_number_themselves_and_grow_by_themselves) {
  constexpr Index kStates = 100'000;
  CountedStates set(2);
  for (Index i = 0; i < kStates; ++i) {
    const auto inserted = set.insert(numbered(i, 2).data(), i == 0 ? kNoIndex : i - 1);
    CHECK(inserted.is_new && inserted.index == i);
  }
  for (Index i = 0; i < kStates; ++i) {
    const auto again = set.insert(numbered(i, 2).data());
    CHECK(!again.is_new && again.index == i && set.find(numbered(i, 2).data()) == i);
  }
  CHECK(set.count() == kStates && set.find(numbered(kStates, 2).data()) == kNoIndex);
  CHECK(set.parent(0) == kNoIndex && set.parent(7) == 6);
}

TEST(threads_that_insert_the_same_states_agree_on_who_was_first) {
  constexpr Index kStates = 20'000, kThreads = 4;
  StateSet set(1, 17);
  set.reserve(kStates * kThreads);
  std::vector<std::uint64_t> fresh(kThreads, 0);
  {
    std::vector<std::jthread> threads;
    for (Index t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        Index place = t * kStates;
        for (Index i = 0; i < kStates; ++i) {
          const auto inserted = insert(set, numbered((i * (2 * t + 1)) % kStates, 1), t, place);
          if (inserted.is_new) ++fresh[t], ++place;
        }
      });
  }
  CHECK(fresh[0] + fresh[1] + fresh[2] + fresh[3] == kStates);
  for (Index i = 0; i < kStates; ++i) {
    const auto state = numbered(i, 1);
    const Index index = set.find(state.data(), hash_words(state.data(), 1));
    CHECK(index != kNoIndex);
    CHECK(set.state(index)[0] == state[0]);
    CHECK(set.parent(index) == index / kStates);
  }
}

TEST(several_threads_move_all_entries_to_the_larger_table) {
  constexpr Index kStates = 40'000;
  StateSet set(1, 16);
  set.reserve(kStates);
  for (Index i = 0; i < kStates; ++i) CHECK(insert(set, numbered(i, 1), i, i).is_new);
  const std::size_t before = set.capacity();
  set.begin_to_grow();
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] { set.move_entries(t * before / 4, (t + 1) * before / 4); });
  }
  set.end_growing();
  CHECK(set.capacity() == 2 * before);
  for (Index i = 0; i < kStates; ++i) CHECK(!insert(set, numbered(i, 1), 0, kNoIndex - 1).is_new && set.parent(i) == i);
}

TEST(the_first_parent_by_hash_and_then_by_state_is_kept) {
  StateSet set(1);
  set.reserve(4);
  for (Index i = 0; i < 4; ++i) {
    const Word state = Word{0x0101010101010101} * (4 - i);  // the same in any byte order
    set.insert(&state, hash_words(&state, 1), Link(0, std::uint64_t{7} << 32), i);
  }
  const auto is_kept = [&](Index parent, std::uint64_t hash) {
    set.prefer_parent(3, Link(parent, hash << 32));
    return set.parent(3) == parent;
  };
  CHECK(!is_kept(1, 8));  // a later hash
  CHECK(is_kept(1, 7));   // the same hash, and a smaller state
  CHECK(!is_kept(0, 7));
  CHECK(is_kept(0, 6));
}
