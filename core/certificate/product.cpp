#include "certificate/product.hpp"

#include <algorithm>
#include <utility>

namespace memfence::certificate {

namespace {

bool moves(const Step& step, int process) {
  return (step.kind == Step::Kind::Run && step.process == process) ||
         (step.kind == Step::Kind::Meet && (step.process == process || step.other == process));
}

bool drains(const Step& step, int process, int buffer) {
  return step.process == process &&
         (step.kind == Step::Kind::Drop || (step.kind == Step::Kind::Commit && step.number == buffer));
}

void require_sound(const Refuting& refuting) {
  const auto below = [](int number, std::size_t count) { return number >= 0 && static_cast<std::size_t>(number) < count; };
  const auto all_below = [&](const std::vector<int>& numbers, std::size_t count) {
    return std::all_of(numbers.begin(), numbers.end(), [&](int number) { return below(number, count); });
  };
  bool sound = below(refuting.initial, refuting.nodes.size()) && refuting.marks >= 0;
  for (const std::vector<Move>& leaving : refuting.nodes)
    for (const Move& move : leaving)
      sound = sound && below(move.target, refuting.nodes.size()) && all_below(move.positive, refuting.atoms.size()) &&
              all_below(move.negative, refuting.atoms.size()) &&
              all_below(move.marks, static_cast<std::size_t>(refuting.marks));
  if (!sound) throw Unsupported("the automaton has a number that does not exist");
}

}  // namespace

bool is_possible(const Move& move, const std::vector<char>& truth) {
  const auto is_true = [&](int atom) { return truth[static_cast<std::size_t>(atom)] != 0; };
  return std::all_of(move.positive.begin(), move.positive.end(), is_true) &&
         std::none_of(move.negative.begin(), move.negative.end(), is_true);
}

Product::Product(const std::string& program, const Model& model, int capacity, Refuting refuting)
    : model_(model),
      program_(read_program(program, model_)),
      layout_(program_, model_, capacity),
      steps_(program_, model_, layout_),
      refuting_(std::move(refuting)),
      scratch_(layout_.width()) {
  require_sound(refuting_);
  for (const std::string& text : refuting_.atoms) atoms_.push_back(program_.expression(text));
  const int processes = static_cast<int>(program_.processes.size());
  for (int p = 0; p < processes; ++p)
    if (!program_.processes[static_cast<std::size_t>(p)].stored.empty())
      for (int b = 0; b < static_cast<int>(layout_.buffers(p).size()); ++b) conditions_.push_back({p, b});
  for (int p = 0; refuting_.fair && p < processes; ++p) conditions_.push_back({p, -1});
  if (program_.errors.empty()) return;
  error_.assign(static_cast<std::size_t>(layout_.places()), 0);
  std::copy(program_.errors.begin(), program_.errors.end(), error_.begin());
}

void Product::enter(const Number* state) {
  state_ = state;
  has_successors_ = false;
  truth_.clear();
  for (const int atom : atoms_) {  // one that cannot be evaluated is false
    Wide value = 0;
    truth_.push_back(steps_.evaluate(atom, state, value) && value != 0 ? 1 : 0);
  }
}

const std::vector<Successor>& Product::successors() {
  if (has_successors_) return successors_;
  has_successors_ = true;
  successors_.clear();
  rows_.clear();
  steps_.for_each(state_, [&](const Step& step, Outcome outcome, const Number* after) {
    if (outcome == Outcome::Overflow) {
      successors_.push_back({step, std::nullopt});
    } else if (outcome == Outcome::Done) {
      go_on(step, after);
    } else if (!steps_.failed_assertion() && !error_.empty()) {
      go_on(step, error_.data());
    }
    return true;
  });
  if (successors_.empty()) go_on(std::nullopt, state_);
  find_movers();
  return successors_;
}

void Product::go_on(std::optional<Step> step, const Number* after) {
  if (!layout_.write(after, scratch_.data())) {
    successors_.push_back({step, std::nullopt});
    return;
  }
  successors_.push_back({step, rows_.size()});
  rows_.insert(rows_.end(), scratch_.begin(), scratch_.end());
}

void Product::find_movers() {
  can_move_.assign(program_.processes.size(), 0);
  for (const Successor& successor : successors_)
    for (std::size_t p = 0; successor.step && p < can_move_.size(); ++p)
      can_move_[p] = can_move_[p] != 0 || moves(*successor.step, static_cast<int>(p)) ? 1 : 0;
}

bool Product::visits(const Move& move, const Successor& successor, int mark) const {
  if (mark < refuting_.marks) return std::find(move.marks.begin(), move.marks.end(), mark) != move.marks.end();
  return meets(successor, mark);
}

bool Product::meets(const Successor& successor, int mark) const {
  if (has_no_marks()) return true;
  const auto [process, buffer] = conditions_[static_cast<std::size_t>(mark - refuting_.marks)];
  if (buffer < 0)
    return can_move_[static_cast<std::size_t>(process)] == 0 || (successor.step && moves(*successor.step, process));
  const bool is_empty = state_[layout_.buffers(process)[static_cast<std::size_t>(buffer)].first] == 0;
  return is_empty || (successor.step && drains(*successor.step, process, buffer));
}

}  // namespace memfence::certificate
