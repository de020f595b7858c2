#include "certificate/runs.hpp"

#include <algorithm>

#include "certificate/initial.hpp"

namespace memfence::certificate {

namespace {

// Few stores are pending in most runs, and a state is copied with every step.
constexpr int kRoomAtFirst = 4;

}  // namespace

Replay::Replay(const Program& program, const Model& model) : program_(program), model_(model), capacity_(kRoomAtFirst) {
  layout_ = std::make_unique<Layout>(Layout::of_runs(program_, model_, capacity_));
  steps_ = std::make_unique<Steps>(program_, model_, *layout_);
}

bool Replay::begin(std::uint64_t start) {
  const std::optional<std::vector<Number>> first = nth_initial(program_, static_cast<std::size_t>(layout_->places()), start);
  if (first) state_ = *first;
  return first.has_value();
}

bool Replay::exists(int process, int number) const {
  return process >= 0 && static_cast<std::size_t>(process) < program_.processes.size() && number >= 0 &&
         static_cast<std::size_t>(number) < program_.processes[static_cast<std::size_t>(process)].transitions.size();
}

bool Replay::exists(const Step& step) const {
  switch (step.kind) {
    case Step::Kind::Run: return exists(step.process, step.number);
    case Step::Kind::Meet: return exists(step.process, step.number) && exists(step.other, step.other_number);
    case Step::Kind::Commit:
    case Step::Kind::Drop: return step.process >= 0 && static_cast<std::size_t>(step.process) < program_.processes.size();
  }
  return false;
}

bool Replay::take(const Step& step) {
  if (has_ended_ || !exists(step)) return false;
  const std::size_t first = history_.events.size();
  Outcome outcome = take_once(step);
  while (outcome == Outcome::Overflow) {
    history_.events.resize(first);
    grow();
    outcome = take_once(step);
  }
  if (outcome == Outcome::Blocked) return false;
  if (outcome == Outcome::Failed) {
    fail();
    return true;
  }
  if (step.kind == Step::Kind::Run) {
    const auto holds = [&](const Number* state) {
      return program_.lock_at >= 0 && state[program_.lock_at] == step.process + 1;
    };
    history_.steps.push_back({step.process, first, history_.events.size(), holds(state_.data()), holds(steps_->after())});
  }
  state_.assign(steps_->after(), steps_->after() + state_.size());
  return true;
}

Outcome Replay::take_once(const Step& step) {
  if (step.kind == Step::Kind::Commit || step.kind == Step::Kind::Drop)
    return steps_->take_from_buffers(state_.data(), step, history_.events);
  return steps_->take(state_.data(), step, {nullptr, nullptr, &history_.events});
}

// A run goes on after a run-time error where the language has a state for it: everything is 0 there, and nothing is pending.
void Replay::fail() {
  has_failed_ = true;
  has_ended_ = steps_->failed_assertion() || program_.errors.empty();
  if (has_ended_) return;
  std::fill(state_.begin(), state_.end(), 0);
  std::copy(program_.errors.begin(), program_.errors.end(), state_.begin());
}

void Replay::grow() {
  capacity_ *= 2;
  auto larger = std::make_unique<Layout>(Layout::of_runs(program_, model_, capacity_));
  std::vector<Number> state(static_cast<std::size_t>(larger->places()), 0);
  std::copy_n(state_.begin(), program_.buffers_at, state.begin());
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p)
    for (std::size_t n = 0; n < layout_->buffers(p).size(); ++n) {
      const Buffer &from = layout_->buffers(p)[n], &to = larger->buffers(p)[n];
      const Number used = 1 + state_[static_cast<std::size_t>(from.first)] * from.places_of_an_entry();
      std::copy_n(state_.begin() + from.first, used, state.begin() + to.first);
    }
  state_ = std::move(state);
  layout_ = std::move(larger);
  steps_ = std::make_unique<Steps>(program_, model_, *layout_);
}

}  // namespace memfence::certificate
