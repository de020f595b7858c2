#include "search/emptiness.hpp"

#include "test.hpp"
#include "tiny.hpp"

using namespace memfence;
using memfence::test::kConst;
using memfence::test::kSlot;
using memfence::test::MachineBuilder;

namespace {

constexpr Value kEqual = static_cast<Value>(Code::Eq);

// A ring of `length` locations, with a loop at each of `loops`.
struct Ring {
  std::shared_ptr<const Machine> machine;
  std::vector<int> at;  // expressions: is it at this location?
};

Ring ring(int length, const std::vector<int>& loops, bool closed = true) {
  MachineBuilder builder(0);
  const int p = builder.process(length, 0);
  for (int here = 0; here < length - (closed ? 0 : 1); ++here) builder.edge(p, here, (here + 1) % length, {});
  for (const int here : loops) builder.edge(p, here, here, {});
  std::vector<int> at;
  for (int here = 0; here < length; ++here)
    at.push_back(builder.expression({kSlot, builder.location_slot(p), kConst, here, kEqual}));
  return {builder.build(), at};
}

BuchiQuery anything(std::vector<Condition> conditions) { return {0, {{{0, 0, 0, 0}}}, 0, {}, std::move(conditions)}; }
Condition again(int expression) { return {ConditionKind::Recurring, expression, 0}; }

// In depth, and by all states: with the same answer.
BuchiResult ask(const Ring& r, const BuchiQuery& query, const Limits& limits = {}) {
  const Model sc{ModelKind::Sc, 0};
  const BuchiResult alone = find_accepted_run(*r.machine, sc, false, query, {1'000, 1}, limits);
  const BuchiResult shared = find_accepted_run(*r.machine, sc, false, query, {0, 2}, limits);
  CHECK(alone.stop == shared.stop && alone.prefix.size() == shared.prefix.size());
  CHECK(alone.cycle.size() == shared.cycle.size());
  return alone;
}

}  // namespace

TEST(a_ring_meets_every_location_again_and_again) {
  const Ring r = ring(5, {});
  const BuchiResult found = ask(r, anything({again(r.at[1]), again(r.at[3]), again(r.at[4])}));
  CHECK(found.stop == Stop::Found);
  CHECK(found.prefix.size() + found.cycle.size() == 5);
}

TEST(a_way_without_return_meets_nothing_again) {
  const Ring r = ring(5, {}, false);
  CHECK(ask(r, anything({again(r.at[1])})).stop == Stop::None);
  const BuchiResult found = ask(r, anything({again(r.at[4])}));
  CHECK(found.stop == Stop::Found);
  CHECK(found.cycle.size() == 1 && found.cycle[0].stutters);
}

TEST(marks_of_different_components_do_not_add_up) {
  const Ring r = ring(3, {0, 1, 2}, false);
  for (int here = 0; here < 3; ++here)
    CHECK(ask(r, anything({again(r.at[static_cast<std::size_t>(here)])})).stop == Stop::Found);
  CHECK(ask(r, anything({again(r.at[0]), again(r.at[1])})).stop == Stop::None);
}

TEST(the_shortest_loop_is_taken) {
  const Ring r = ring(100, {2});
  const BuchiResult found = ask(r, anything({again(r.at[2])}));
  CHECK(found.stop == Stop::Found);
  CHECK(found.prefix.size() == 2 && found.cycle.size() == 1);
}

TEST(a_loop_near_the_start_is_preferred_to_a_deep_one) {
  const Ring r = ring(500, {0, 499}, false);
  const BuchiResult found = ask(r, anything({}));
  CHECK(found.stop == Stop::Found);
  CHECK(found.prefix.empty() && found.cycle.size() == 1);
}

TEST(the_automaton_reads_the_state_that_a_step_leaves) {
  const Ring r = ring(2, {}, false);
  // Accepts words whose first letter satisfies the atom, and no second one does.
  const BuchiQuery first{0, {{{1, 1, 0, 0}}, {{1, 0, 1, 1}}}, 1, {r.at[0]}, {}};
  CHECK(ask(r, first).stop == Stop::Found);
  const BuchiQuery second{0, {{{1, 1, 0, 0}}, {{1, 0, 1, 1}}}, 1, {r.at[1]}, {}};
  CHECK(ask(r, second).stop == Stop::None);
}

TEST(sixty_four_conditions_are_told_apart) {
  const Ring r = ring(64, {});
  std::vector<Condition> all;
  for (const int expression : r.at) all.push_back(again(expression));
  CHECK(ask(r, anything(all)).stop == Stop::Found);
  const Ring open = ring(65, {}, false);
  std::vector<Condition> most;
  for (std::size_t i = 0; i < 64; ++i) most.push_back(again(open.at[i]));
  CHECK(ask(open, anything(most)).stop == Stop::None);
}

TEST(a_cancelled_search_for_lassos_ends_without_an_answer) {
  MachineBuilder builder(0);
  for (int i = 0; i < 4; ++i) {
    const int p = builder.process(12, 0);
    for (int here = 0; here < 12; ++here) builder.edge(p, here, (here + 1) % 12, {});
  }
  const int never = builder.constant(0);
  Limits limits;
  limits.cancel = std::make_shared<std::atomic<bool>>(true);
  const auto machine = builder.build();
  CHECK(find_accepted_run(*machine, Model{ModelKind::Sc, 0}, false, anything({again(never)}), {1'000, 1}, limits).stop ==
        Stop::Cancelled);
  CHECK(find_accepted_run(*machine, Model{ModelKind::Sc, 0}, false, anything({again(never)}), {0, 2}, {}).stop == Stop::None);
}
