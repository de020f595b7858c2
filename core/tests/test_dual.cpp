// The Dual-TSO engine: the order on constraints, and whole searches on machines put together by hand.
#include "dual/search.hpp"
#include "test.hpp"
#include "tiny.hpp"

using namespace memfence;
using namespace memfence::dual;
using memfence::test::kConst;
using memfence::test::kSlot;
using memfence::test::MachineBuilder;

namespace {

constexpr Value kEq = static_cast<Value>(Code::Eq), kAndThen = static_cast<Value>(Code::AndThen),
                kTruth = static_cast<Value>(Code::Truth);

const Instances kBothFixed{2, {0, 1}};

// Store buffering; `fenced`: with an mfence between store and load. Bad: both processes end with 0 loaded.
struct StoreBuffering {
  MachineBuilder builder{2};
  int bad = 0;
  std::shared_ptr<const Machine> machine;

  explicit StoreBuffering(bool fenced) {
    for (int p = 0; p < 2; ++p) {
      builder.process(4, 1);
      std::vector<Op> ops{builder.store(p, p, 1)};
      if (fenced) ops.push_back(builder.fence(p));
      ops.push_back(builder.load(p, 1 - p));
      builder.sequence(p, ops);
    }
    const Value end = fenced ? 3 : 2;
    std::vector<Value> code;
    for (int p = 0; p < 2; ++p)
      for (const auto& [slot, value] : {std::pair{builder.location_slot(p), end}, {builder.register_slot(p), 0}}) {
        if (!code.empty()) {
          code.insert(code.end(), {kAndThen, 0});
          holes.push_back(code.size() - 1);
        }
        code.insert(code.end(), {kSlot, slot, kConst, value, kEq});
        if (!holes.empty()) {
          code.push_back(kTruth);
          code[holes.back()] = static_cast<Value>(code.size());
        }
      }
    bad = builder.expression(code);
    machine = builder.build();
  }

  Question question(bool reduce) const { return {bad, -1, true, reduce, {{0, 1, 2, 3}, {0, 1, 2, 3}}, kBothFixed}; }
  std::vector<std::size_t> holes;
};

}  // namespace

TEST(dual_finds_store_buffering_and_a_run_to_it) {
  const StoreBuffering sb(false);
  for (const bool reduce : {false, true}) {
    const Outcome outcome = explore(*sb.machine, sb.question(reduce), Limits{});
    CHECK(outcome.stop == Stop::Found);
    CHECK(outcome.finding == Kind::BadState);
    CHECK(outcome.witness.complete);
    int loads = 0;
    for (const TsoStep& step : outcome.witness.steps) loads += step.edge >= 0;
    CHECK(loads == 4);
  }
}

TEST(dual_proves_that_fences_forbid_store_buffering) {
  const StoreBuffering sb(true);
  for (const bool reduce : {false, true}) {
    const Outcome outcome = explore(*sb.machine, sb.question(reduce), Limits{});
    CHECK(outcome.stop == Stop::None);
    CHECK(!outcome.finding);
    CHECK(outcome.stats.minimal > 0);
  }
}

TEST(dual_variables_that_one_process_writes_are_its_own) {
  const StoreBuffering sb(false);
  const Roles roles = find_roles(*sb.machine, kBothFixed);
  CHECK(roles.of[0].kind == Role::Kind::Exclusive && roles.of[0].owner == 0);
  CHECK(roles.of[1].kind == Role::Kind::Exclusive && roles.of[1].owner == 1);
  CHECK(roles.shared.empty());
}

TEST(dual_constraints_survive_being_flattened) {
  const Constraint c{{0, 1, 1}, {3, 5, 4}, {{1, 0, 2}, {}, {3}}, {unknown_number, 7}};
  const Constraint again = unflatten(flatten(c), 2);
  CHECK(again.kinds == c.kinds);
  CHECK(again.sets == c.sets);
  CHECK(again.fifos == c.fifos);
  CHECK(again.memory == c.memory);
}

TEST(dual_order_compares_words_between_owned_messages) {
  const StoreBuffering sb(false);
  Limits limits;
  Watch watch(limits);
  Model model;
  model.local = build_local_graphs(*sb.machine, kBothFixed, watch, 100);
  std::uint64_t bytes = 0;
  Stop stop = Stop::None;
  for (const LocalGraph& local : model.local.of)
    model.graphs.push_back(build_process_graph(local, model.messages, watch, bytes, stop));
  for (std::size_t p = 0; p < 2; ++p) model.sets.emplace_back(model.local.of[p], model.graphs[p], 1, 1);
  const auto owning = [&](std::size_t p, bool owns) {
    for (std::size_t e = 0; e < model.graphs[p].size(); ++e)
      if ((model.graphs[p].owned[e] != 0) == owns) return model.sets[p].close({static_cast<int>(e)});
    return empty_set;
  };
  const Set with = owning(0, true), other = owning(1, false);
  Frontier frontier(model.sets, 2, 0);
  CHECK(frontier.add({{0, 1}, {with, other}, {{1, 0, 2}, {}}, {}}, -1) == 0);
  CHECK(frontier.add({{0, 1}, {with, other}, {{1, 1, 0, 2}, {1}}, {}}, -1) == -1);   // longer words: above
  CHECK(frontier.add({{0, 1}, {with, other}, {{1, 2, 0}, {}}, {}}, -1) == 1);  // on the other side of the owned message
  CHECK(frontier.add({{0, 1}, {with, other}, {{0}, {}}, {}}, -1) == 2);  // below both
  CHECK(!frontier.is_alive(0) && !frontier.is_alive(1) && frontier.is_alive(2));
  CHECK(frontier.alive() == 1);
  // Of any number of processes each needs one of its own, in any order.
  Frontier instances(model.sets, 1, 0);
  CHECK(instances.add({{0, 1, 1}, {with, other, other}, {{0}, {1}, {2}}, {}}, -1) == 0);
  CHECK(instances.add({{0, 1, 1, 1}, {with, other, other, other}, {{0}, {2}, {}, {1}}, {}}, -1) == -1);
  CHECK(instances.add({{0, 1}, {with, other}, {{0}, {1, 2}}, {}}, -1) == 1);
  CHECK(instances.is_alive(0) && instances.is_alive(1));
}
