// The checker of certificates, on programs written as canonical text.
#include "certificate/checker.hpp"

#include <algorithm>
#include <string>

#include "test.hpp"

using namespace memfence::certificate;

namespace {

const Model kSc{Buffers::None, 0, false};
const Model kTso{Buffers::PerProcess, 0, false};
const Model kPso{Buffers::PerVariable, 0, false};

// One process stores 1 to the first variable, then loads the second one into its register; the other one the other way round.
std::string store_buffering(const char* between = "") {
  std::string text = "(variable \"x\" 0 1 error (0))\n(variable \"y\" 0 1 error (0))\n";
  for (int p = 0; p < 2; ++p) {
    const std::string mine = p == 0 ? "0" : "1", other = p == 0 ? "1" : "0";
    text += "(process \"P" + mine + "\" \"P\" 0)\n(register \"r\" 0 1 error (0) kept _)\n";
    text += "(location ())\n(location ())\n(location ())\n";
    text += "(step 0 1 plain _ (store " + mine + " 1 0 1 buffered plain _)" + between + ")\n";
    text += "(step 1 2 plain _ (load 0 " + other + " 1 0 _ plain))\n";
  }
  return text;
}

std::string row_of_start(const std::string& program, const Model& model, int capacity) {
  const Program read = read_program(program, model);
  const Layout layout(read, model, capacity);
  const std::vector<Number> state(static_cast<std::size_t>(layout.places()), 0);
  std::string row(layout.width(), '\0');
  CHECK(layout.write(state.data(), reinterpret_cast<unsigned char*>(row.data())));
  return row;
}

// Every row that steps lead to, in order.
std::vector<std::string> reachable(const std::string& program, const Model& model, int capacity) {
  Checker checker(program, model, capacity, {});
  std::vector<std::string> rows{row_of_start(program, model, capacity)};
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::string row = rows[n];
    for (const Checker::Taken& taken : checker.steps(reinterpret_cast<const unsigned char*>(row.data())))
      if (std::find(rows.begin(), rows.end(), taken.after) == rows.end()) rows.push_back(taken.after);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::string planes(const std::vector<std::string>& rows) {
  std::string block;
  for (std::size_t byte = 0; byte < rows.at(0).size(); ++byte)
    for (const std::string& row : rows) block.push_back(row[byte]);
  return block;
}

Condition checked(const std::string& program, const Model& model, int capacity, const std::vector<std::string>& rows,
                  const Asked& asked = {}) {
  Checker checker(program, model, capacity, asked);
  const std::string block = planes(rows);
  const Finding finding = checker.add(reinterpret_cast<const unsigned char*>(block.data()), block.size());
  return finding.condition == Condition::None ? checker.check().condition : finding.condition;
}

const char* const kBothReadZero = "(&& (&& (at 0 (2)) (at 1 (2))) (&& (== (register-of 0 0) 0) (== (register-of 1 0) 0)))";

}  // namespace

TEST(certificate_lists_are_read_as_trees) {
  const std::vector<List> lists = parse_lists("(a (1 -2) \"b c\")\n7");
  CHECK(lists.size() == 2);
  CHECK(lists[0].at(0).is("a"));
  CHECK((lists[0].at(1).numbers() == std::vector<std::int64_t>{1, -2}));
  CHECK(lists[0].at(2).text == "\"b c\"");  // names stay as they are written
  CHECK(lists[1].number() == 7);
}

TEST(certificate_values_wrap_or_do_not_fit) {
  Number out = 0;
  CHECK((Domain{-2, 1, true}.fit(2, out)) && out == -2);
  CHECK((Domain{-2, 1, true}.fit(-3, out)) && out == 1);
  CHECK(!(Domain{0, 3, false}.fit(4, out)));
}

TEST(certificate_text_that_is_no_program_is_not_judged) {
  for (const char* text :
       {"(what)", "(location ())", "(variable \"x\" 1 0 error (0))", "(process \"P\" \"P\" 3)\n(location ())"}) {
    bool is_refused = false;
    try {
      read_program(text, kSc);
    } catch (const Unsupported&) {
      is_refused = true;
    }
    CHECK(is_refused);
  }
}

TEST(certificate_rows_are_read_in_one_way_only) {
  const Program program = read_program(store_buffering(), kTso);
  const Layout layout(program, kTso, 1);
  std::string row = row_of_start(store_buffering(), kTso, 1);
  std::vector<Number> state(static_cast<std::size_t>(layout.places()));
  CHECK(layout.read(reinterpret_cast<const unsigned char*>(row.data()), state.data()));
  row.back() = 1;  // a value behind the end of an empty buffer
  CHECK(!layout.read(reinterpret_cast<const unsigned char*>(row.data()), state.data()));
}

TEST(certificate_both_processes_read_zero_under_tso_and_pso_but_not_under_sc) {
  Asked asked;
  asked.bad = kBothReadZero;
  const std::string program = store_buffering();
  CHECK(checked(program, kSc, 0, reachable(program, kSc, 0), asked) == Condition::None);
  CHECK(checked(program, kTso, 1, reachable(program, kTso, 1), asked) == Condition::Bad);
  CHECK(checked(program, kPso, 1, reachable(program, kPso, 1), asked) == Condition::Bad);
}

TEST(certificate_a_full_buffer_of_the_certificate_is_a_way_out) {
  const std::string twice = store_buffering(" (store 0 1 0 0 buffered plain _)");
  CHECK(checked(twice, kTso, 2, reachable(twice, kTso, 2)) == Condition::None);
  CHECK(checked(twice, kTso, 1, {row_of_start(twice, kTso, 1)}) == Condition::Closed);
}

TEST(certificate_no_state_can_be_left_out_or_come_twice) {
  const std::string program = store_buffering();
  const std::vector<std::string> rows = reachable(program, kTso, 1);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    std::vector<std::string> fewer = rows;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(n));
    const Condition found = checked(program, kTso, 1, fewer);
    CHECK(found == Condition::Closed || found == Condition::Initial);
  }
  std::vector<std::string> repeated = rows;
  repeated.insert(repeated.begin(), rows.front());
  CHECK(checked(program, kTso, 1, repeated) == Condition::Order);
}

TEST(certificate_a_block_that_is_cut_is_none) {
  Checker checker(store_buffering(), kSc, 0, {});
  const std::string block(checker.width() + 1, '\0');
  CHECK(checker.add(reinterpret_cast<const unsigned char*>(block.data()), block.size()).condition == Condition::Shape);
}

std::string fenced_store_buffering() {
  std::string text = store_buffering();
  for (const char* load : {"(load 0 1", "(load 0 0"}) text.insert(text.find(load), "(fence mfence plain) ");
  return text;
}

Condition checked_for(Criterion criterion, const std::string& program) {
  Asked asked;
  asked.criterion = criterion;
  return checked(program, kSc, 0, reachable(program, kSc, 0), asked);
}

TEST(certificate_an_attack_on_persistence_needs_a_read_behind_the_store) {
  CHECK(checked_for(Criterion::Persistent, store_buffering()) == Condition::Attack);
  CHECK(checked_for(Criterion::Persistent, fenced_store_buffering()) == Condition::None);
}

TEST(certificate_an_attack_on_robustness_comes_back_to_the_delayed_store) {
  for (const Criterion criterion : {Criterion::RobustTso, Criterion::RobustPso}) {
    CHECK(checked_for(criterion, store_buffering()) == Condition::Cycle);
    CHECK(checked_for(criterion, fenced_store_buffering()) == Condition::None);
  }
}

TEST(certificate_a_fence_prevents_no_race) {
  CHECK(checked_for(Criterion::RaceFree, store_buffering()) == Condition::Race);
  CHECK(checked_for(Criterion::RaceFree, fenced_store_buffering()) == Condition::Race);
}
