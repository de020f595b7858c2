#include "certificate/automata.hpp"

#include <algorithm>

#include "certificate/choices.hpp"

namespace memfence::certificate {

namespace {

// Room for what was pending before a step, and for all that it stores, each store with a separator.
int room(const Program& program) {
  std::size_t most = 0;
  for (const Process& process : program.processes)
    for (const Transition& t : process.transitions) most = std::max(most, t.ops.size());
  return static_cast<int>(std::min<std::size_t>(1 + 2 * most, kMostPending + 1));
}

}  // namespace

AutomataChecker::AutomataChecker(const std::string& program, const Model& model, const std::string& bad, bool deadlock)
    : model_(model),
      program_(read_program(program, model_)),
      control_(program_, Model{}, 0),
      layout_(program_, Model{Buffers::PerProcess}, room(program_)),
      steps_(program_, model_, layout_),
      deadlock_(deadlock),
      scratch_(control_.width()) {
  if (!bad.empty()) bad_ = program_.expression(bad);
}

void AutomataChecker::add_automaton(const std::vector<std::vector<Move>>& moves, const std::vector<int>& accepting) {
  Words& words = words_.emplace_back();
  words.starts = {0};
  words.accepting.assign(moves.size(), 0);
  for (const int node : accepting) words.accepting.at(static_cast<std::size_t>(node)) = 1;
  for (const std::vector<Move>& leaving : moves) {
    auto& all = words.moves.emplace_back();
    for (const Move& move : leaving) {
      if (move.target < 0 || static_cast<std::size_t>(move.target) >= moves.size()) throw Unsupported("a move leads nowhere");
      all.emplace_back(move.is_store ? alphabet_.number(move.variable, move.value) : kSeparator, move.target);
    }
  }
}

SymbolicFinding AutomataChecker::add(const unsigned char* block, std::size_t size) {
  const std::size_t width = this->width(), count = size / width;
  if (count == 0 || count * width != size) return {Condition::Shape, ""};
  std::vector<Number> state(static_cast<std::size_t>(control_.places()));
  std::string row(control_.width(), '\0');
  for (std::size_t n = 0; n < count; ++n) {
    const auto byte = [&](std::size_t at) { return block[at * count + n]; };
    for (std::size_t at = 0; at < row.size(); ++at) row[at] = static_cast<char>(byte(at));
    if (!control_.read(reinterpret_cast<const unsigned char*>(row.data()), state.data())) return {Condition::Shape, row};
    Numbers numbers;
    for (std::size_t at = row.size(); at < width; at += 4) {
      std::uint32_t number = 0;
      for (std::size_t k = 0; k < 4; ++k) number = number << 8 | byte(at + k);
      if (number >= words_.size()) return {Condition::Shape, row};
      numbers.push_back(number);
    }
    const auto [place, is_new] = group_of_.emplace(row, groups_.size());
    if (is_new) groups_.push_back({row, {}});
    groups_[place->second].known.push_back(std::move(numbers));
    ++states_;
  }
  return {};
}

SymbolicFinding AutomataChecker::check() {
  SymbolicFinding finding = check_initial();
  for (std::size_t n = 0; n < groups_.size() && finding.condition == Condition::None; ++n) finding = check_group(groups_[n]);
  return finding;
}

// Condition 1: initial states, nothing pending.
SymbolicFinding AutomataChecker::check_initial() {
  std::vector<std::pair<int, const std::vector<Number>*>> places;
  for (std::size_t v = 0; v < program_.variables.size(); ++v)
    places.emplace_back(program_.memory_at + static_cast<int>(v), &program_.variables[v].init);
  for (const Process& p : program_.processes)
    for (std::size_t n = 0; n < p.registers.size(); ++n)
      if (p.registers[n].kept) places.emplace_back(p.places[n], &p.registers[n].init);
  std::vector<std::size_t> sizes;
  for (const auto& [_, values] : places) sizes.push_back(values->size());
  SymbolicFinding finding;
  for_each_choice(sizes, [&](const std::vector<std::size_t>& chosen) {
    std::vector<Number> state(static_cast<std::size_t>(control_.places()), 0);
    for (std::size_t p = 0; p < program_.processes.size(); ++p) state[p] = program_.processes[p].initial;
    for (std::size_t n = 0; n < places.size(); ++n)
      state[static_cast<std::size_t>(places[n].first)] = (*places[n].second)[chosen[n]];
    if (!control_.write(state.data(), scratch_.data())) throw Unsupported("an initial value lies outside its range");
    const std::string row(scratch_.begin(), scratch_.end());
    const auto group = group_of_.find(row);
    const auto has_empty = [&](const Numbers& numbers) {
      return std::all_of(numbers.begin(), numbers.end(), [&](std::uint32_t n) { return words_[n].has_empty(); });
    };
    const bool is_there = group != group_of_.end() &&
                          std::any_of(groups_[group->second].known.begin(), groups_[group->second].known.end(), has_empty);
    if (!is_there) finding = {Condition::Initial, row};
    return is_there;
  });
  return finding;
}

SymbolicFinding AutomataChecker::check_group(const Group& group) {
  std::vector<Number> state(static_cast<std::size_t>(layout_.places()), 0);
  control_.read(reinterpret_cast<const unsigned char*>(group.row.data()), state.data());
  Wide value = 0;
  if (bad_ >= 0 && steps_.evaluate(bad_, state.data(), value) && value != 0) return {Condition::Bad, group.row};
  for (const Numbers& numbers : group.known) {
    if (deadlock_ && is_deadlock(state, numbers)) return {Condition::Deadlock, group.row};
    Step step;
    Condition condition = check_steps(state, numbers, step);
    if (condition == Condition::None) condition = check_commits(state, numbers, step);
    if (condition != Condition::None) return {condition, group.row, numbers, true, step};
  }
  return {};
}

// Condition 3d: a deadlock has nothing pending, since a pending store could commit.
bool AutomataChecker::is_deadlock(const std::vector<Number>& state, const Numbers& numbers) {
  for (const std::uint32_t number : numbers)
    if (!words_[number].has_empty()) return false;
  for (const Step& step : steps_at(state.data()))
    if (steps_.take(state.data(), step, {}) != Outcome::Blocked) return false;
  for (std::size_t p = 0; p < program_.processes.size(); ++p)
    if (!steps_.is_halted(state.data(), static_cast<int>(p)) &&
        !program_.processes[p].locations[static_cast<std::size_t>(state[p])].may_end)
      return true;
  return false;
}

// Every step of processes that stand at these locations, possible or not.
std::vector<Step> AutomataChecker::steps_at(const Number* state) const {
  std::vector<Step> found;
  const int count = static_cast<int>(program_.processes.size());
  for (int p = 0; p < count; ++p) {
    const Process& process = program_.processes[static_cast<std::size_t>(p)];
    for (const int number : process.leaving[static_cast<std::size_t>(state[p])]) {
      const Transition& t = process.transitions[static_cast<std::size_t>(number)];
      if (!t.meeting) found.push_back({Step::Kind::Run, p, number});
      if (!t.meeting || !t.meeting->sends) continue;
      for (int q = 0; q < count; ++q)
        for (const int other : program_.processes[static_cast<std::size_t>(q)].leaving[static_cast<std::size_t>(state[q])])
          if (q != p) found.push_back({Step::Kind::Meet, p, number, q, other});
    }
  }
  return found;
}

// Condition 2 for steps of the program: `pending` says of each mover whether stores were pending before.
Condition AutomataChecker::check_steps(const std::vector<Number>& control, const Numbers& numbers, Step& shown) {
  for (const Step& step : steps_at(control.data())) {
    shown = step;
    std::vector<int> movers{step.process};
    if (step.kind == Step::Kind::Meet) movers.push_back(step.other);
    Condition condition = Condition::None;
    for_each_choice(std::vector<std::size_t>(movers.size(), 2), [&](const std::vector<std::size_t>& chosen) {
      Behind behind;
      behind.pending.assign(program_.processes.size(), 0);
      std::vector<Number> state = control;
      for (std::size_t n = 0; n < movers.size(); ++n) {
        behind.pending[static_cast<std::size_t>(movers[n])] = chosen[n] != 0 ? 1 : 0;
        state[static_cast<std::size_t>(layout_.buffers(movers[n]).at(0).first)] = static_cast<Number>(chosen[n]);
      }
      condition = check_ways(state, numbers, step, behind);
      return condition == Condition::None;
    });
    if (condition != Condition::None) return condition;
  }
  return Condition::None;
}

// Every way in which the step may go: where a load would look at what was pending before, every answer that some word gives.
Condition AutomataChecker::check_ways(const std::vector<Number>& state, const Numbers& numbers, const Step& step,
                                      Behind& behind) {
  behind.unanswered.reset();
  Watch watch;
  watch.behind = &behind;
  const Outcome outcome = steps_.take(state.data(), step, watch);
  if (!behind.unanswered)
    return outcome == Outcome::Blocked ? Condition::None : check_way(state, numbers, step, behind, outcome);
  const auto [process, variable] = *behind.unanswered;
  for (const Newest& value : newest(numbers[static_cast<std::size_t>(process)], variable)) {
    behind.answers.push_back({process, variable, value});
    const Condition condition = check_ways(state, numbers, step, behind);
    behind.answers.pop_back();
    if (condition != Condition::None) return condition;
  }
  return Condition::None;
}

Condition AutomataChecker::check_way(const std::vector<Number>& state, const Numbers& numbers, const Step& step,
                                     const Behind& behind, Outcome outcome) {
  const std::vector<Number> after(steps_.after(), steps_.after() + state.size());
  std::vector<int> movers{step.process};
  if (step.kind == Step::Kind::Meet) movers.push_back(step.other);
  const auto made_by = [&](int p, const std::vector<Symbol>& word) {
    const bool pending = behind.pending[static_cast<std::size_t>(p)] != 0;
    return made(numbers[static_cast<std::size_t>(p)], pending, behind.answers, p, word);
  };
  for (const int p : movers)
    if (made_any_[made_by(p, {})] == 0) return Condition::None;  // no word goes this way
  if (outcome == Outcome::Failed) return Condition::Failure;     // Condition 3b
  if (outcome == Outcome::Overflow) throw Unsupported("a step stores too much");
  std::map<int, std::size_t> whole;
  for (const int p : movers) whole[p] = made_by(p, stored(after.data(), p, behind.pending[static_cast<std::size_t>(p)] != 0));
  return is_covered(after.data(), numbers, whole) ? Condition::None : Condition::Closed;
}

// Condition 2 for commits.
Condition AutomataChecker::check_commits(const std::vector<Number>& control, const Numbers& numbers, Step& shown) {
  for (std::size_t p = 0; p < numbers.size(); ++p) {
    std::set<Symbol> symbols;
    for (const auto& leaving : words_[numbers[p]].moves)
      for (const auto& [symbol, _] : leaving)
        if (symbol != kSeparator) symbols.insert(symbol);
    for (const Symbol symbol : symbols) {
      const std::size_t left = committed(numbers[p], symbol);
      if (made_any_[left] == 0) continue;
      const auto [variable, value] = alphabet_.store(symbol);
      const std::vector<int>& buffers = program_.processes[p].stored;
      const auto queue = std::find(buffers.begin(), buffers.end(), variable);
      shown = {Step::Kind::Commit, static_cast<int>(p),
               model_.buffers == Buffers::PerProcess ? 0 : static_cast<int>(queue - buffers.begin())};
      if (variable < 0 || static_cast<std::size_t>(variable) >= program_.variables.size()) return Condition::Closed;
      std::vector<Number> after = control;
      after[static_cast<std::size_t>(program_.memory_at + variable)] = value;
      if (!is_covered(after.data(), numbers, {{static_cast<int>(p), left}})) return Condition::Closed;
    }
  }
  return Condition::None;
}

bool AutomataChecker::is_covered(const Number* state, const Numbers& numbers, const std::map<int, std::size_t>& made) {
  if (!control_.write(state, scratch_.data())) return false;
  const auto group = group_of_.find(std::string(scratch_.begin(), scratch_.end()));
  if (group == group_of_.end()) return false;
  std::vector<std::size_t> wanted;
  for (std::size_t p = 0; p < numbers.size(); ++p) {
    const auto mover = made.find(static_cast<int>(p));
    wanted.push_back(mover != made.end() ? mover->second : kept(numbers[p]));
  }
  const std::vector<Numbers>& known = groups_[group->second].known;
  return std::any_of(known.begin(), known.end(), [&](const Numbers& other) {
    for (std::size_t p = 0; p < other.size(); ++p)
      if (!is_included(other[p], wanted[p])) return false;
    return true;
  });
}

}  // namespace memfence::certificate
