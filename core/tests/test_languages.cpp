#include "symbolic/languages.hpp"

#include "symbolic/cycles.hpp"
#include "test.hpp"

using namespace memfence;

namespace {

constexpr int x = 0, y = 1;

struct Tso : Languages {
  Tso() : Languages(StoreOrder::Total, false) {}
};
struct Pso : Languages {
  Pso() : Languages(StoreOrder::Partial, true) {}
};

}  // namespace

TEST(the_empty_set_and_the_empty_word_have_fixed_numbers) {
  Tso l;
  CHECK(l.dfa(kNoWord).states() == 0);
  CHECK(l.dfa(kDrained).states() == 1);
  CHECK(l.has_drained(kDrained));
  CHECK(!l.has_drained(kNoWord));
  CHECK(l.of_word({}) == kDrained);
}

TEST(equal_languages_have_equal_numbers) {
  Tso l;
  const Symbol a = l.symbol(x, 1), b = l.symbol(y, 1);
  CHECK(l.append(l.append(kDrained, a), b) == l.of_word({a, b}));
  CHECK(l.unite(l.of_word({a}), l.of_word({b})) == l.unite(l.of_word({b}), l.of_word({a})));
  CHECK(l.iterate(kDrained, l.of_word({a, b})) == l.iterate(l.iterate(kDrained, l.of_word({a, b})), l.of_word({a, b, a, b})));
  CHECK(l.of_word({a, b}) != l.of_word({b, a}));
}

TEST(neighbouring_stores_to_one_variable_coalesce_under_tso) {
  Tso l;
  const Symbol x1 = l.symbol(x, 1), x2 = l.symbol(x, 2), y1 = l.symbol(y, 1);
  CHECK(l.includes(l.of_word({x1, x2}), l.of_word({x2})));
  CHECK(!l.includes(l.of_word({x1, x2}), l.of_word({x1})));
  CHECK(!l.includes(l.of_word({x1, y1, x2}), l.of_word({y1, x2})));
}

TEST(stores_of_one_segment_coalesce_under_pso) {
  Pso l;
  const Symbol x1 = l.symbol(x, 1), x2 = l.symbol(x, 2), y1 = l.symbol(y, 1);
  CHECK(l.includes(l.of_word({x1, y1, x2}), l.of_word({y1, x2})));
  CHECK(!l.includes(l.of_word({x1, kSeparator, x2}), l.of_word({kSeparator, x2})));
  CHECK(l.of_word({x1, kSeparator, kSeparator, x2}) == l.of_word({x1, kSeparator, x2}));
}

TEST(a_load_finds_the_newest_own_store) {
  Tso l;
  const Symbol x1 = l.symbol(x, 1), x2 = l.symbol(x, 2), y1 = l.symbol(y, 1);
  const Language rounds = l.iterate(kDrained, l.of_word({x1, y1, x2, y1}));
  const auto& loads = l.loads(rounds, x);
  CHECK(loads.none == kDrained);
  CHECK(loads.own.size() == 1 && loads.own[0].first == 2);
  CHECK(l.restricted(rounds, x, 2, true) == rounds);
  CHECK(l.restricted(rounds, x, 1, false) == kNoWord);
}

TEST(only_the_oldest_store_commits_under_tso) {
  Tso l;
  const Symbol x1 = l.symbol(x, 1), y1 = l.symbol(y, 1);
  const auto& commits = l.commits(l.of_word({x1, y1}));
  CHECK(commits.size() == 1 && commits[0].symbol == x1 && commits[0].rest == l.of_word({y1}));
  CHECK(l.commits(kDrained).empty());
}

TEST(stores_overtake_up_to_a_separator_under_pso) {
  Pso l;
  const Symbol x1 = l.symbol(x, 1), y1 = l.symbol(y, 1);
  CHECK(l.commits(l.of_word({x1, y1})).size() == 2);
  const auto& fenced = l.commits(l.of_word({x1, kSeparator, y1}));
  CHECK(fenced.size() == 1 && fenced[0].symbol == x1);
  CHECK(fenced[0].rest == l.of_word({y1}));  // the separator headed the buffer: it left
}

TEST(a_cycle_is_repeated_only_where_its_loads_find_the_same) {
  Tso l;
  Cycles cycles(l);
  const Symbol x1 = l.symbol(x, 1), x2 = l.symbol(x, 2);
  const std::vector<Value> memory{1, 0};
  // x := 1 after a load of x that found 1: repeats itself. x := 2 after the same load does not.
  const Event found{EventKind::Load, 0, x, 1, true};
  const auto cycle = [&](Symbol stored) {
    return cycles.add({0, {found, {EventKind::Append, 0, stored, 0, false}}, l.of_word({stored}), true});
  };
  const int stays = cycle(x1), changes = cycle(x2);
  CHECK(cycles.saturate(kDrained, {stays}, memory.data()) == l.iterate(kDrained, l.of_word({x1})));
  CHECK(!cycles.saturate(kDrained, {changes}, memory.data()));
  CHECK(!cycles.saturate(kDrained, {stays, changes}, memory.data()));
  const std::vector<Value> other{2, 0};
  CHECK(!cycles.saturate(kDrained, {stays}, other.data()));
  CHECK(cycles.saturate(l.of_word({x1}), {stays}, other.data()).has_value());
}

TEST(a_cycle_that_drains_its_buffer_cannot_be_repeated_with_stores_pending) {
  Tso l;
  Cycles cycles(l);
  const Symbol x1 = l.symbol(x, 1);
  const std::vector<Event> events{{EventKind::Barrier, 0, 0, 0, false}, {EventKind::Append, 0, x1, 0, false}};
  CHECK(!cycles.grow(kDrained, events, 0));
  CHECK(cycles.grow(kDrained, events, 1) == kDrained);
}
