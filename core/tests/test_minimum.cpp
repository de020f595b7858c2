// The checker of minimum sets of fences, on programs written as canonical text.
#include "certificate/minimum.hpp"

#include <string>

#include "certificate/fence_bound.hpp"
#include "test.hpp"

using namespace memfence::certificate;

namespace {

const Model kTso{Buffers::PerProcess, 0, false};
const Model kPso{Buffers::PerVariable, 0, false};
using Kind = Step::Kind;

// Each process stores 1 to its variable, `stores` times, passes a fence and loads the other variable.
std::string fenced_store_buffering(int stores = 1) {
  std::string text = "(variable \"x\" 0 1 error (0))\n(variable \"y\" 0 1 error (0))\n";
  for (int p = 0; p < 2; ++p) {
    const std::string mine = p == 0 ? "0" : "1", other = p == 0 ? "1" : "0";
    text += "(process \"P" + mine +
            "\" \"P\" 0)\n(register \"r\" 0 1 error (0) kept _)\n(location ())\n(location ())\n(location ())\n";
    std::string all;
    for (int n = 0; n < stores; ++n) all += " (store " + mine + " 1 0 1 buffered plain _)";
    text += "(step 0 1 plain _" + all + ")\n(step 1 2 plain _ (fence mfence plain))\n";
    text += "(location ())\n(step 2 3 plain _ (load 0 " + other + " 1 0 _ plain))\n";
  }
  return text;
}

const std::vector<Site> kChosen{{Site::Kind::Mfence, {{0, 1}}, true}, {Site::Kind::Mfence, {{1, 1}}, true}};
// The first process overtakes its own store; the second one has its fence.
const std::vector<Step> kOvertaken{{Kind::Run, 0, 0},    {Kind::Run, 0, 1}, {Kind::Run, 0, 2}, {Kind::Run, 1, 0},
                                   {Kind::Commit, 1, 0}, {Kind::Run, 1, 1}, {Kind::Run, 1, 2}, {Kind::Commit, 0, 0}};

ClauseFault fault(const std::string& program, const Model& model, BadRun criterion, const std::vector<int>& clause,
                  const std::vector<Step>& steps, const std::string& bad = "", std::size_t most_bytes = SIZE_MAX) {
  const MinimumAsked asked{bad, false, {}, criterion, most_bytes};
  return MinimumChecker(program, model, kChosen, asked).check(clause, 0, steps).fault;
}

}  // namespace

TEST(a_run_without_the_fence_of_its_clause_is_bad_by_every_criterion) {
  const std::string program = fenced_store_buffering();
  const std::string bad = "(&& (&& (at 0 (3)) (at 1 (3))) (&& (== (register-of 0 0) 0) (== (register-of 1 0) 0)))";
  for (const BadRun criterion : {BadRun::Persistent, BadRun::Robust, BadRun::StateRobust, BadRun::Safety})
    for (const Model& model : {kTso, kPso}) {
      CHECK(fault(program, model, criterion, {0}, kOvertaken, bad) == ClauseFault::None);
      CHECK(fault(program, model, criterion, {0, 1}, kOvertaken, bad) == ClauseFault::None);
      CHECK(fault(program, model, criterion, {1}, kOvertaken, bad) == ClauseFault::Step);
    }
  CHECK(fault(program, kTso, BadRun::Never, {0}, kOvertaken) == ClauseFault::NotBad);
}

TEST(a_run_in_order_is_not_bad) {
  const std::vector<Step> steps{{Kind::Run, 0, 0}, {Kind::Commit, 0, 0}, {Kind::Run, 0, 1}, {Kind::Run, 0, 2}};
  const std::vector<Step> pending{{Kind::Run, 0, 0}};
  for (const BadRun criterion : {BadRun::Persistent, BadRun::Robust, BadRun::StateRobust, BadRun::Safety})
    CHECK(fault(fenced_store_buffering(), kTso, criterion, {0}, steps) == ClauseFault::NotBad);
  CHECK(fault(fenced_store_buffering(), kTso, BadRun::Robust, {0}, pending) == ClauseFault::Pending);
}

TEST(buffers_grow_with_the_run) {
  std::vector<Step> steps = kOvertaken;
  for (int n = 1; n < 50; ++n) {
    steps.insert(steps.begin() + 4, Step{Kind::Commit, 1, 0});
    steps.push_back({Kind::Commit, 0, 0});
  }
  CHECK(fault(fenced_store_buffering(50), kTso, BadRun::Robust, {0}, steps) == ClauseFault::None);
  steps.push_back({Kind::Commit, 0, 0});
  CHECK(fault(fenced_store_buffering(50), kTso, BadRun::Robust, {0}, steps) == ClauseFault::Step);
}

TEST(steps_that_do_not_exist_are_not_possible) {
  for (const Step& step : {Step{Kind::Run, 2, 0}, Step{Kind::Run, -1, 0}, Step{Kind::Run, 0, 9}, Step{Kind::Meet, 0, 0, 1, 0},
                           Step{Kind::Commit, 5, 0}, Step{Kind::Commit, 0, -1}, Step{Kind::Drop, 0}})
    CHECK(fault(fenced_store_buffering(), kPso, BadRun::Robust, {0}, {step}) == ClauseFault::Step);
}

TEST(a_search_of_sc_needs_memory) {
  bool is_refused = false;
  try {
    fault(fenced_store_buffering(), kTso, BadRun::StateRobust, {0}, kOvertaken, "", 16);
  } catch (const std::bad_alloc&) {
    is_refused = true;
  }
  CHECK(is_refused);
}

TEST(a_chosen_site_needs_its_fence) {
  const std::vector<Site> wrong{{Site::Kind::Mfence, {{0, 0}}, true}}, locked{{Site::Kind::Locked, {{0, 0}}, true}};
  for (const std::vector<Site>& sites : {wrong, locked}) {
    const MinimumChecker checker(fenced_store_buffering(), kTso, sites, {"", false, {}, BadRun::Robust, SIZE_MAX});
    CHECK(checker.check({0}, 0, kOvertaken).fault == ClauseFault::Sites);
    CHECK(checker.check({}, 0, kOvertaken).fault == ClauseFault::Sites);
  }
}

TEST(clauses_without_a_common_site_cost_each) {
  CHECK(check_fence_bound({{0, 1}, {2, 3}}, {2, 1, 1, 3}, 1) == Bound::Met);
  CHECK(check_fence_bound({{0, 1}, {2, 3}}, {2, 1, 1, 3}, 2) == Bound::Missed);
  CHECK(check_fence_bound({{0, 1}, {1, 2}}, {1, 1, 1}, 1) == Bound::Missed);
  CHECK(check_fence_bound({{}}, {1}, 5) == Bound::Met);
  CHECK(check_fence_bound({}, {1}, -1) == Bound::Met);
  CHECK(check_fence_bound({}, {1}, 0) == Bound::Missed);
}
