#include "dual/timeline.hpp"

#include "test.hpp"

using memfence::dual::Timeline;
using memfence::dual::TsoStep;

namespace {

constexpr int kCommit = -1;

bool is(const std::vector<TsoStep>& steps, const std::vector<TsoStep>& wanted) {
  if (steps.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].process != wanted[i].process || steps[i].edge != wanted[i].edge) return false;
  return true;
}

Timeline of_two() {
  Timeline timeline;
  timeline.add_process();
  timeline.add_process();
  return timeline;
}

}  // namespace

TEST(a_load_of_an_old_value_happens_before_the_store_that_changed_it_commits) {
  Timeline timeline = of_two();
  timeline.take(0, 10, 0, false);
  timeline.change(0, false);
  timeline.take(1, 20, 0, false);  // what it loads is from before the change
  CHECK(is(timeline.in_order(), {{0, 10}, {1, 20}, {0, kCommit}}));
}

TEST(a_load_of_a_new_value_and_what_follows_it_come_after_the_commit) {
  Timeline timeline = of_two();
  timeline.take(0, 10, 0, false);
  timeline.change(0, false);
  timeline.take(1, 20, timeline.now(), false);
  timeline.take(1, 21, 0, false);  // as early as its process allows
  CHECK(is(timeline.in_order(), {{0, 10}, {0, kCommit}, {1, 20}, {1, 21}}));
}

TEST(a_locked_step_is_itself_the_change) {
  Timeline timeline = of_two();
  timeline.take(0, 10, timeline.now(), true);
  timeline.change(0, true);
  timeline.take(0, 11, 0, false);
  timeline.take(1, 20, 0, false);
  CHECK(is(timeline.in_order(), {{1, 20}, {0, 10}, {0, 11}}));
}
