#include "certificate/checker.hpp"

#include <algorithm>
#include <new>
#include <unordered_set>

#include "certificate/attacks.hpp"
#include "certificate/initial.hpp"
#include "certificate/non_sc_states.hpp"
#include "certificate/races.hpp"

namespace memfence::certificate {

Checker::Checker(const std::string& program, const Model& model, int capacity, const Asked& asked)
    : model_(model),
      program_(read_program(program, model_)),
      layout_(program_, model_, capacity),
      steps_(program_, model_, layout_),
      ends_(program_, model_, layout_, asked.left_out),
      rows_(layout_.width()),
      deadlock_(asked.deadlock),
      expected_(asked.expected),
      outcomes_(asked.outcomes.begin(), asked.outcomes.end()),
      scratch_(layout_.width()),
      text_(program),
      criterion_(asked.criterion),
      may_fail_(asked.may_fail),
      capacity_(capacity),
      most_bytes_(asked.most_bytes) {
  if (!asked.bad.empty()) bad_ = program_.expression(asked.bad);
  const bool is_about_sc = criterion_ != Criterion::None && criterion_ != Criterion::StateRobust;
  if (is_about_sc && model_.buffers != Buffers::None) throw Unsupported("the criterion is about states of SC");
  if (criterion_ == Criterion::Persistent) {
    overtaking_ = std::make_unique<Overtaking>(program);
    events_ = std::make_unique<Events>(program_, model_, layout_);
    changing_.resize(program_.variables.size());
  }
  for (const std::string& text : asked.final) final_.push_back(program_.expression(text));
}

Finding Checker::found(Condition condition, std::size_t number) const {
  const unsigned char* row = rows_.row(number);
  return {condition, std::string(row, row + layout_.width()), false, {}};
}

Finding Checker::add(const unsigned char* block, std::size_t size) {
  const std::size_t width = layout_.width(), count = width == 0 ? 0 : size / width;
  if (count == 0 || count * width != size || rows_.size() + count > kMostRows) return {Condition::Shape, "", false, {}};
  std::vector<Number> state(static_cast<std::size_t>(layout_.places()));
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t byte = 0; byte < width; ++byte) scratch_[byte] = block[byte * count + n];
    const std::string row(scratch_.begin(), scratch_.end());
    if (!layout_.read(scratch_.data(), state.data())) return {Condition::Shape, row, false, {}};
    if (!rows_.append(scratch_.data())) return {Condition::Order, row, false, {}};
  }
  return {};
}

Finding Checker::check() {
  rows_.index();
  Finding finding = check_initial();
  std::vector<Number> state(static_cast<std::size_t>(layout_.places()));
  for (std::size_t n = 0; n < rows_.size() && finding.condition == Condition::None; ++n) {
    layout_.read(rows_.row(n), state.data());
    finding = check_state(n, state.data());
  }
  if (finding.condition == Condition::None) finding = attack_;
  return finding.condition == Condition::None ? check_all() : finding;
}

void Checker::make_criterion_checker() {
  const Model tso{Buffers::PerProcess, 0, false}, pso{Buffers::PerVariable, 0, false};
  switch (criterion_) {
    case Criterion::None:
    case Criterion::Persistent: return;
    case Criterion::RaceFree: of_criterion_ = std::make_unique<Races>(text_); return;
    case Criterion::RobustTso: of_criterion_ = std::make_unique<Attacks>(text_, tso, most_bytes_); return;
    case Criterion::RobustPso: of_criterion_ = std::make_unique<Attacks>(text_, pso, most_bytes_); return;
    case Criterion::StateRobust: of_criterion_ = std::make_unique<NonScStates>(text_, model_, capacity_, most_bytes_); return;
  }
}

// What the criterion asks of each state, once the set is known to be closed.
Finding Checker::check_all() {
  make_criterion_checker();
  std::vector<Number> state(static_cast<std::size_t>(layout_.places()));
  for (std::size_t n = 0; n < rows_.size() && of_criterion_; ++n) {
    layout_.read(rows_.row(n), state.data());
    std::optional<Step> step;
    if (!of_criterion_->refuses(state.data(), step)) continue;
    Finding finding = found(criterion_ == Criterion::RaceFree      ? Condition::Race
                            : criterion_ == Criterion::StateRobust ? Condition::NonScState
                                                                   : Condition::Cycle,
                            n);
    finding.has_step = step.has_value();
    if (step) finding.step = *step;
    return finding;
  }
  return {};
}

// Condition 1: every initial state is in the set.
Finding Checker::check_initial() {
  Finding finding;
  for_each_initial(program_, static_cast<std::size_t>(layout_.places()), [&](const Number* state) {
    finding.condition = missing(state, nullptr);
    if (finding.condition == Condition::None) return true;
    if (finding.condition == Condition::Closed) finding.condition = Condition::Initial;
    layout_.write(state, scratch_.data());
    finding.row.assign(scratch_.begin(), scratch_.end());
    return false;
  });
  return finding;
}

std::vector<std::string> Checker::reachable(std::size_t most_bytes) {
  std::unordered_set<std::string> seen;
  std::vector<const std::string*> waiting;
  const auto visit = [&](const Number* state) {
    if (!layout_.write(state, scratch_.data())) throw Unsupported("a state has more pending stores than the set says");
    const auto [row, is_new] = seen.emplace(scratch_.begin(), scratch_.end());
    if (is_new) waiting.push_back(&*row);
    if (seen.size() * (layout_.width() + sizeof(std::string) + 48) > most_bytes) throw std::bad_alloc();
    return true;
  };
  for_each_initial(program_, static_cast<std::size_t>(layout_.places()), visit);
  std::vector<Number> state(static_cast<std::size_t>(layout_.places()));
  while (!waiting.empty()) {
    layout_.read(reinterpret_cast<const unsigned char*>(waiting.back()->data()), state.data());
    waiting.pop_back();
    steps_.for_each(state.data(), [&](const Step&, Outcome outcome, const Number* after) {
      return outcome == Outcome::Failed || visit(after);
    });
  }
  std::vector<std::string> rows(seen.begin(), seen.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

Condition Checker::missing(const Number* state, const Step* step) {
  Condition condition = Condition::None;
  ends_.for_each(state, step, [&](Outcome outcome, const Number* end) {
    if (outcome == Outcome::Failed)
      condition = Condition::Failure;
    else if (!layout_.write(end, scratch_.data()) || !rows_.contains(scratch_.data()))
      condition = Condition::Closed;
    return condition == Condition::None;
  });
  return condition;
}

Finding Checker::check_state(std::size_t number, const Number* state) {
  if (is_bad(state)) return found(Condition::Bad, number);
  if (!final_.empty() && is_final(state) && refutes_final(state)) return found(Condition::Final, number);
  bool has_step = false;
  Finding finding;
  std::fill(changing_.begin(), changing_.end(), 0);
  const bool is_attackable = overtaking_ && attack_.condition == Condition::None && !Events::is_held(program_, state);
  steps_.for_each(state, [&](const Step& step, Outcome outcome, const Number* after) {
    has_step = true;
    if (outcome == Outcome::Failed && may_fail_) return true;
    if (is_attackable && outcome == Outcome::Done && !Events::is_held(program_, after))
      note_changes(state, step.process, after);
    else if (is_attackable && outcome == Outcome::Done)
      events_->for_each(state, step.process, step.number, [&](const Events::Event& event) {
        if (event.outcome == Outcome::Done) note_changes(state, step.process, event.after);
        return true;
      });
    const Condition condition = outcome == Outcome::Done     ? missing(after, &step)
                                : outcome == Outcome::Failed ? Condition::Failure
                                                             : Condition::Closed;
    if (condition == Condition::None) return true;
    finding = found(condition, number);
    finding.has_step = true;
    finding.step = step;
    return false;
  });
  if (finding.condition == Condition::None && deadlock_ && !has_step && !may_all_end(state))
    return found(Condition::Deadlock, number);
  // The set is judged as a whole first, as the Python checker does: an attack counts if all else is in order.
  if (is_attackable && finding.condition == Condition::None) look_for_attack(number, state);
  return finding;
}

void Checker::look_for_attack(std::size_t number, const Number* state) {
  Step step;
  if (!overtaking_->starts_attack(state, changing_, step)) return;
  attack_ = found(Condition::Attack, number);
  attack_.has_step = true;
  attack_.step = step;
}

void Checker::note_changes(const Number* state, int process, const Number* after) {
  for (std::size_t v = 0; v < changing_.size(); ++v) {
    const std::size_t place = static_cast<std::size_t>(program_.memory_at) + v;
    if (state[place] != after[place]) changing_[v] |= std::uint64_t{1} << process;
  }
}

std::vector<Checker::Taken> Checker::steps(const unsigned char* row) {
  std::vector<Number> state(static_cast<std::size_t>(layout_.places()));
  std::vector<Taken> all;
  if (!layout_.read(row, state.data())) return all;
  steps_.for_each(state.data(), [&](const Step& step, Outcome outcome, const Number* after) {
    const bool has_row = outcome == Outcome::Done && layout_.write(after, scratch_.data());
    all.push_back({step, outcome, has_row ? std::string(scratch_.begin(), scratch_.end()) : std::string()});
    return true;
  });
  return all;
}

// A property that cannot be evaluated does not hold.
bool Checker::is_bad(const Number* state) const {
  Wide value = 0;
  return bad_ >= 0 && steps_.evaluate(bad_, state, value) && value != 0;
}

bool Checker::is_final(const Number* state) const {
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p)
    if (!steps_.is_halted(state, p) || !steps_.is_drained(state, p)) return false;
  return true;
}

bool Checker::may_all_end(const Number* state) const {
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p)
    if (!steps_.is_halted(state, p) &&
        !program_.processes[static_cast<std::size_t>(p)].locations[static_cast<std::size_t>(state[p])].may_end)
      return false;
  return true;
}

bool Checker::refutes_final(const Number* state) const {
  std::vector<Number> values;
  for (const int expression : final_) {
    Wide value = 0;
    if (!steps_.evaluate(expression, state, value)) value = 0;
    values.push_back(static_cast<Number>(value));
    if (values.back() != value) throw Unsupported("an outcome needs more than 64 bits");
  }
  return (expected_ >= 0 && (values[0] != 0) != (expected_ == 1)) || !outcomes_.contains(values);
}

}  // namespace memfence::certificate
