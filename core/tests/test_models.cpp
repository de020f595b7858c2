// The memory policies, step by step. The differential tests in Python compare whole searches with the reference models.
#include "models/semantics.hpp"

#include "machine/layout.hpp"
#include "test.hpp"
#include "tiny.hpp"

using namespace memfence;
using memfence::test::MachineBuilder;

namespace {

// One process that stores to x (0) and y (1).
std::shared_ptr<const Machine> one_process(bool uses_sfence) {
  MachineBuilder builder(2);
  const int p = builder.process(4, 1);
  std::vector<Op> ops{builder.store(p, 0, 1), builder.store(p, 1, 1)};
  if (uses_sfence) ops.push_back(builder.separator(p));
  builder.sequence(p, ops);
  return builder.build();
}

// What the memory system can do by itself for process 0, as the numbers it emits.
template <MemoryModel Semantics>
std::vector<int> background(const Semantics& semantics, Work& w) {
  std::vector<int> numbers;
  const std::size_t mark = w.mark();
  semantics.background(w, 0, [&](int number) { numbers.push_back(number); });
  w.rollback(mark);
  return numbers;
}

// Let the memory system do step `number`, for good.
template <MemoryModel Semantics>
void take(const Semantics& semantics, Work& w, int number) {
  Work after(semantics.slots.size());
  semantics.background(w, 0, [&](int emitted) {
    if (emitted == number) std::copy_n(w.data(), semantics.slots.size(), after.data());
  });
  w.rollback();
  std::copy_n(after.data(), semantics.slots.size(), w.data());
}

}  // namespace

TEST(under_sc_a_store_is_in_memory_at_once) {
  const auto machine = one_process(false);
  const Sc sc(*machine);
  Work w(sc.slots.size());
  Value value = 0;
  CHECK(sc.store(w, 0, 1, 2) == Outcome::Done);
  CHECK(w[1] == 2 && !sc.own(w, 0, 1, value) && sc.drained(w, 0));
}

TEST(under_tso_a_load_sees_the_newest_own_store) {
  const auto machine = one_process(false);
  const Tso tso(*machine, 3, false);
  Work w(tso.slots.size());
  tso.store(w, 0, 0, 1);
  tso.store(w, 0, 1, 3);
  tso.store(w, 0, 0, 2);
  Value value = 0;
  CHECK(tso.own(w, 0, 0, value) && value == 2);
  CHECK(tso.own(w, 0, 1, value) && value == 3);
  CHECK(w[0] == 0 && w[1] == 0);
}

TEST(under_tso_stores_reach_memory_in_order_and_leave_nothing_behind) {
  const auto machine = one_process(false);
  const Tso tso(*machine, 3, false);
  Work w(tso.slots.size());
  tso.store(w, 0, 0, 1);
  tso.store(w, 0, 1, 3);
  w.settle();
  take(tso, w, 0);
  CHECK(w[0] == 1 && w[1] == 0 && !tso.drained(w, 0));
  take(tso, w, 0);
  CHECK(w[0] == 1 && w[1] == 3 && tso.drained(w, 0));
  const auto [first, count] = tso.buffer_slots(0);
  for (int i = 0; i < count; ++i) CHECK(w[first + i] == 0);
  CHECK(background(tso, w).empty());
}

TEST(a_full_buffer_refuses) {
  const auto machine = one_process(false);
  const Tso tso(*machine, 2, false);
  Work w(tso.slots.size());
  CHECK(tso.store(w, 0, 0, 1) == Outcome::Done && tso.store(w, 0, 1, 1) == Outcome::Done);
  CHECK(tso.store(w, 0, 0, 2) == Outcome::Refused);
}

TEST(a_bound_per_variable_counts_each_variable_alone) {
  const auto machine = one_process(false);
  const Tso tso(*machine, 1, true);
  Work w(tso.slots.size());
  CHECK(tso.store(w, 0, 0, 1) == Outcome::Done && tso.store(w, 0, 1, 1) == Outcome::Done);
  CHECK(tso.store(w, 0, 0, 2) == Outcome::Refused && tso.store(w, 0, 1, 2) == Outcome::Refused);
  w.settle();
  take(tso, w, 0);
  CHECK(tso.store(w, 0, 1, 2) == Outcome::Refused && tso.store(w, 0, 0, 2) == Outcome::Done);
}

TEST(under_pso_each_variable_has_a_buffer_of_its_own) {
  const auto machine = one_process(false);
  const Pso pso(*machine, 2);
  Work w(pso.slots.size());
  pso.store(w, 0, 0, 1);
  pso.store(w, 0, 0, 2);
  pso.store(w, 0, 1, 3);
  w.settle();
  CHECK((background(pso, w) == std::vector<int>{0, 1}));
  take(pso, w, 1);
  CHECK(w[0] == 0 && w[1] == 3);
  take(pso, w, 0);
  CHECK(w[0] == 1 && w[1] == 3 && !pso.drained(w, 0));
  Value value = 0;
  CHECK(pso.own(w, 0, 0, value) && value == 2);
}

TEST(nothing_passes_a_separator) {
  const auto machine = one_process(true);
  const Pso pso(*machine, 3);
  Work w(pso.slots.size());
  pso.store(w, 0, 0, 1);
  CHECK(pso.separate(w, 0) == Outcome::Done);
  pso.store(w, 0, 1, 2);
  w.settle();
  CHECK((background(pso, w) == std::vector<int>{0}));  // the store before it only
  Value value = 0;
  CHECK(pso.own(w, 0, 0, value) && value == 1);  // a load looks through it
  take(pso, w, 0);
  CHECK((background(pso, w) == std::vector<int>{2}));  // it heads both buffers: it leaves both at once
  take(pso, w, 2);
  CHECK((background(pso, w) == std::vector<int>{1}));
}

TEST(every_value_may_stand_beside_a_separator) {
  for (const Value value : {INT64_MIN, INT64_MIN + 1, Value{INT32_MIN}, Value{-1}, Value{0}, Value{1}, INT64_MAX}) {
    MachineBuilder builder(2, INT64_MIN, INT64_MAX);
    const int p = builder.process(4, 1);
    builder.sequence(p, {builder.store(p, 0, value), builder.store(p, 1, value), builder.separator(p)});
    const auto machine = builder.build();
    const Pso pso(*machine, 2);
    const Layout layout(pso.slots);
    Work w(pso.slots.size());
    pso.store(w, 0, 0, value);
    CHECK(pso.separate(w, 0) == Outcome::Done);
    w.settle();
    std::vector<Word> packed(layout.words());
    layout.pack(w.data(), packed.data());
    layout.unpack(packed.data(), w.data());
    pso.derive(w);
    Value found = 1234;
    CHECK(pso.own(w, 0, 0, found) && found == value);
    CHECK(!pso.own(w, 0, 1, found));
    CHECK((background(pso, w) == std::vector<int>{0}));
    take(pso, w, 0);
    CHECK(w[0] == value);
    CHECK((background(pso, w) == std::vector<int>{2}));
    take(pso, w, 2);
    CHECK(pso.drained(w, 0) && background(pso, w).empty());
    const auto [first, count] = pso.buffer_slots(0);
    for (int i = 0; i < count; ++i) CHECK(w[first + i] == 0);
  }
}

TEST(a_derived_count_is_what_was_counted) {
  const auto machine = one_process(true);
  const Pso pso(*machine, 3);
  Work w(pso.slots.size());
  pso.store(w, 0, 0, 1);
  pso.separate(w, 0);
  const int pending = machine->processes[0].pending_slot;
  const Value counted = w[pending];
  w.data()[pending] = 0;
  pso.derive(w);
  CHECK(w[pending] == counted && counted == 3);
}

TEST(an_edge_that_blocks_half_way_can_be_undone) {
  MachineBuilder builder(1);
  const int p = builder.process(2, 1);
  builder.edge(p, 0, 1, {builder.store(p, 0, 2), builder.load(p, 0), builder.assume(p, builder.constant(0))});
  const auto machine = builder.build();
  const Tso tso(*machine, 2, false);
  Work w(tso.slots.size());
  CHECK(run_edge(*machine, machine->edges[0], w, tso) == Outcome::Blocked);
  CHECK(w.mark() > 0);
  w.rollback();
  for (std::size_t i = 0; i < tso.slots.size(); ++i) CHECK(w[static_cast<int>(i)] == 0);
}

TEST(a_value_outside_its_range_fails_or_wraps) {
  Value out = 0;
  CHECK(!(Slot{0, 3}).fit(4, out) && !(Slot{-2, 3}).fit(-3, out));
  CHECK((Slot{0, 3, true}).fit(-1, out) && out == 3);
  CHECK((Slot{-2, 1, true}).fit(2, out) && out == -2);
}
