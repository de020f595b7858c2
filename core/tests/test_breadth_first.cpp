#include "search/exploration.hpp"

#include "test.hpp"
#include "tiny.hpp"

using namespace memfence;
using memfence::test::kConst;
using memfence::test::kSlot;
using memfence::test::MachineBuilder;

namespace {

constexpr Value code(Code c) { return static_cast<Value>(c); }

// The conjunction of `slot == value`, as encode.py writes it.
std::vector<Value> all_equal(const std::vector<std::pair<int, Value>>& facts) {
  std::vector<Value> text;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    std::size_t hole = 0;
    if (i > 0) {
      text.insert(text.end(), {code(Code::AndThen), 0});
      hole = text.size() - 1;
    }
    text.insert(text.end(), {kSlot, facts[i].first, kConst, facts[i].second, code(Code::Eq)});
    if (i == 0) continue;
    text.push_back(code(Code::Truth));
    text[hole] = static_cast<Value>(text.size());
  }
  return text;
}

struct Asked {
  std::shared_ptr<const Machine> machine;
  int bad;
};

// x := 1; r := y || y := 1; r := x; bad: both read 0.
Asked store_buffering(bool fenced) {
  MachineBuilder builder(2);
  for (int p = 0; p < 2; ++p) {
    builder.process(fenced ? 4 : 3, 1);
    std::vector<Op> ops{builder.store(p, p, 1), builder.load(p, 1 - p)};
    if (fenced) ops.insert(ops.begin() + 1, builder.fence(p));
    builder.sequence(p, ops);
  }
  const Value end = fenced ? 3 : 2;
  const int bad = builder.expression(all_equal({{builder.location_slot(0), end},
                                                {builder.location_slot(1), end},
                                                {builder.register_slot(0), 0},
                                                {builder.register_slot(1), 0}}));
  return {builder.build(), bad};
}

// `count` processes walk around a ring of `length` locations each, without a look at each other.
Asked rings(int count, int length) {
  MachineBuilder builder(0);
  std::vector<std::pair<int, Value>> facts;
  for (int i = 0; i < count; ++i) {
    const int p = builder.process(length, 0);
    for (int at = 0; at < length; ++at) builder.edge(p, at, (at + 1) % length, {});
    facts.emplace_back(builder.location_slot(p), length - 1);
  }
  const int bad = builder.expression(all_equal(facts));
  return {builder.build(), bad};
}

std::unique_ptr<Exploration> search(const Asked& asked, Model model, bool look = true, int threads = 1, Limits limits = {}) {
  SafetyQuery query;
  query.bad = look ? asked.bad : -1;
  return explore_safety(asked.machine, model, false, query, limits, threads);
}

std::vector<Step> path_to_finding(const Exploration& e) { return e.path(e.finding->parent, {e.finding->step}).steps; }

}  // namespace

TEST(store_buffering_is_bad_under_tso_and_pso_only) {
  const Asked asked = store_buffering(false);
  CHECK(!search(asked, {ModelKind::Sc, 0})->finding);
  for (const ModelKind kind : {ModelKind::Tso, ModelKind::TsoPerVariable, ModelKind::Pso}) {
    const auto found = search(asked, {kind, 1});
    CHECK(found->stop == Stop::Found && found->finding.has_value());
    if (found->finding) CHECK(path_to_finding(*found).size() == 4);  // a shortest run
  }
}

TEST(fences_make_store_buffering_good) {
  const Asked asked = store_buffering(true);
  for (const ModelKind kind : {ModelKind::Sc, ModelKind::Tso, ModelKind::Pso}) {
    const auto searched = search(asked, {kind, 2});
    CHECK(!searched->finding && searched->stop == Stop::None && searched->stats.refused == 0);
  }
}

TEST(every_state_is_counted_once) {
  const auto searched = search(store_buffering(false), {ModelKind::Sc, 0}, false);
  CHECK(searched->stats.states == 13);
  CHECK(searched->stats.transitions == 14);
  CHECK(searched->all_values().size() == 13);
  CHECK(searched->final_count == 3);
}

TEST(the_table_grows_without_losing_states) {
  const auto searched = search(rings(3, 50), {ModelKind::Sc, 0}, false);
  CHECK(searched->stats.states == 50 * 50 * 50);
  CHECK(searched->stats.transitions == 3 * 50 * 50 * 50);
  CHECK(searched->stats.depth == 3 * 49 + 1);
}

// States with so many successors that the table is full before those of a few states are in it.
TEST(the_table_grows_while_successors_wait_to_be_entered) {
  constexpr int kWays = 1'000;
  MachineBuilder builder(0);
  for (int i = 0; i < 2; ++i) {
    const int p = builder.process(1 + kWays, 0);
    for (int to = 1; to <= kWays; ++to) builder.edge(p, 0, to, {});
  }
  const Asked asked{builder.build(), -1};
  constexpr std::uint64_t kStates = std::uint64_t{1 + kWays} * (1 + kWays);
  for (const int threads : {1, 3}) {
    const auto searched = search(asked, {ModelKind::Sc, 0}, false, threads);
    CHECK(searched->stop == Stop::None && searched->stats.states == kStates && searched->stats.depth == 3);
    CHECK(searched->stats.transitions == 2 * kWays + 2 * kWays * kWays);
    CHECK(searched->all_values().size() == kStates);
  }
}

TEST(many_threads_need_no_more_table_than_there_is) {
  const auto searched = search(rings(4, 20), {ModelKind::Sc, 0}, false, 300);
  CHECK(searched->stop == Stop::None && searched->stats.states == 160'000);
}

TEST(two_threads_give_the_answer_of_one) {
  const Asked asked = rings(4, 20);
  const auto one = search(asked, {ModelKind::Sc, 0}, false, 1), two = search(asked, {ModelKind::Sc, 0}, false, 2);
  CHECK(one->stats.states == 160'000 && two->stats.states == 160'000);
  CHECK(one->stats.transitions == two->stats.transitions);
  const auto first = search(asked, {ModelKind::Sc, 0}, true, 2), second = search(asked, {ModelKind::Sc, 0}, true, 2);
  CHECK(first->finding && second->finding);
  const auto a = path_to_finding(*first), b = path_to_finding(*second);
  CHECK(a.size() == 4 * 19 && b.size() == a.size());
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) CHECK(a[i].process == b[i].process && a[i].number == b[i].number);
}

TEST(limits_end_a_search_early) {
  const Asked asked = rings(5, 40);
  Limits few;
  few.most_states = 10'000;
  const auto stopped = search(asked, {ModelKind::Sc, 0}, false, 1, few);
  CHECK(stopped->stop == Stop::States && stopped->stats.states < 100'000);
  Limits small;
  small.memory_bytes = resident_bytes() + 20'000'000;
  CHECK(search(asked, {ModelKind::Sc, 0}, false, 2, small)->stop == Stop::Memory);
  Limits cancelled;
  cancelled.cancel = std::make_shared<std::atomic<bool>>(true);
  CHECK(search(asked, {ModelKind::Sc, 0}, false, 1, cancelled)->stop == Stop::Cancelled);
  Limits quick;
  quick.timeout_seconds = 0.01;
  CHECK(search(asked, {ModelKind::Sc, 0}, false, 1, quick)->stop == Stop::Timeout);
}
