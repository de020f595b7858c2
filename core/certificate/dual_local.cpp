#include "certificate/dual_local.hpp"

#include <algorithm>

#include "certificate/choices.hpp"

namespace memfence::certificate {

int ControlSets::number(Bits bits) {
  while (!bits.empty() && bits.back() == 0) bits.pop_back();
  const auto [place, is_new] = numbers_.emplace(std::move(bits), static_cast<int>(bits_.size()));
  if (is_new) bits_.push_back(&place->first);
  return place->second;
}

bool ControlSets::includes(int larger, int smaller) const {
  if (larger == smaller) return true;
  const Bits &a = bits(larger), &b = bits(smaller);
  bool all = b.size() <= a.size();
  for (std::size_t n = 0; all && n < b.size(); ++n) all = (b[n] & ~a[n]) == 0;
  return all;
}

void ControlSets::insert(Bits& bits, int control) {
  const auto word = static_cast<std::size_t>(control) / 64;
  if (bits.size() <= word) bits.resize(word + 1, 0);
  bits[word] |= std::uint64_t{1} << (control % 64);
}

std::vector<int> ControlSets::members(int set) const {
  std::vector<int> found;
  const Bits& all = bits(set);
  for (std::size_t n = 0; n < 64 * all.size(); ++n)
    if ((all[n / 64] >> (n % 64) & 1) != 0) found.push_back(static_cast<int>(n));
  return found;
}

LocalProcess::LocalProcess(const Program& program, const Program& orders, int process, bool everything_locked,
                           const LeftOut& left_out) {
  explore(program, orders, process, everything_locked, left_out);
  reached_ = static_cast<int>(controls_.size());
  std::map<int, ControlSets::Bits> sources;
  for (const auto& ways : arriving_)
    for (const auto& [number, source] : ways) {
      const Action& made = action(number);
      if (made.stores.empty()) continue;
      if (!made.locked) writes_.insert(made.stores[0]);
      ControlSets::insert(sources[number], source);
    }
  storing_ = by_action(sources);
}

int LocalProcess::control(const Control& control) {
  const auto [place, is_new] = numbers_.emplace(control, static_cast<int>(controls_.size()));
  if (is_new) {
    controls_.push_back(&place->first);
    arriving_.emplace_back();
  }
  return place->second;
}

std::vector<std::pair<int, int>> LocalProcess::by_action(const std::map<int, ControlSets::Bits>& sources) {
  std::vector<std::pair<int, int>> found;
  for (const auto& [number, bits] : sources) found.emplace_back(number, sets.number(bits));
  return found;
}

const std::vector<std::pair<int, int>>& LocalProcess::leading(int set) {
  const auto known = leading_.find(set);
  if (known != leading_.end()) return known->second;
  std::map<int, ControlSets::Bits> sources;
  for (const int control : sets.members(set))
    for (const auto& [number, source] : arriving_[static_cast<std::size_t>(control)])
      ControlSets::insert(sources[number], source);
  return leading_[set] = by_action(sources);
}

Facts with_store(Facts own, const Facts& stores) {
  for (const Fact& store : stores) std::erase_if(own, [&](const Fact& older) { return older.first == store.first; });
  own.insert(own.end(), stores.begin(), stores.end());
  return own;
}

void LocalProcess::find_owned() {
  if (!owned_.empty()) return;
  std::vector<std::vector<std::pair<int, int>>> leaving(controls_.size());
  for (std::size_t target = 0; target < arriving_.size(); ++target)
    for (const auto& [number, source] : arriving_[target])
      leaving[static_cast<std::size_t>(source)].emplace_back(number, static_cast<int>(target));
  owned_.resize(controls_.size());
  std::vector<std::pair<int, Facts>> waiting;
  std::size_t count = 0;
  const auto visit = [&](int control, const Facts& own) {
    if (!owned_[static_cast<std::size_t>(control)].insert(own).second) return;
    if (++count > kMostOwned) throw TooLarge("a process can have too many stores pending");
    waiting.emplace_back(control, own);
  };
  for (const int control : sets.members(first_)) visit(control, {});
  while (!waiting.empty()) {
    const auto [control, own] = waiting.back();
    waiting.pop_back();
    if (!own.empty()) visit(control, {own.begin() + 1, own.end()});  // the oldest is deleted
    for (const auto& [number, target] : leaving[static_cast<std::size_t>(control)]) {
      const Action& made = action(number);
      if (!made.is_empty || own.empty()) visit(target, made.locked ? own : with_store(own, made.stores));
    }
  }
}

std::set<Facts> LocalProcess::owned(int set) {
  find_owned();
  std::set<Facts> found;
  for (const int control : sets.members(set))
    if (control < reached_)
      found.insert(owned_[static_cast<std::size_t>(control)].begin(), owned_[static_cast<std::size_t>(control)].end());
  return found;
}

int LocalProcess::owning(int set, const Facts& own) {
  find_owned();
  const auto [place, is_new] = owning_.emplace(std::pair(set, own), 0);
  if (!is_new) return place->second;
  ControlSets::Bits bits;
  for (const int control : sets.members(set))
    if (control < reached_ && owned_[static_cast<std::size_t>(control)].contains(own)) ControlSets::insert(bits, control);
  return place->second = sets.number(bits);
}

namespace {

// What is left out of one process, and nothing of the others, which stay where they are.
LeftOut of_one(const LeftOut& all, int process) {
  LeftOut one = all;
  for (std::size_t p = 0; p < one.passing.size(); ++p)
    if (static_cast<int>(p) != process) one.passing[p].clear();
  one.quiet = one.forgotten = std::vector<std::vector<int>>(one.passing.size());
  return one;
}

// All processes at their start, this one at a control.
std::vector<Number> state_at(const Program& program, int process, const Control& here, std::size_t places) {
  std::vector<Number> state(places, 0);
  for (std::size_t p = 0; p < program.processes.size(); ++p) state[p] = program.processes[p].initial;
  state[static_cast<std::size_t>(process)] = here[0];
  const std::vector<int>& registers = program.processes[static_cast<std::size_t>(process)].places;
  for (std::size_t n = 0; n < registers.size(); ++n) state[static_cast<std::size_t>(registers[n])] = here[n + 1];
  return state;
}

Control control_in(const Program& program, int process, Outcome outcome, const Number* state) {
  if (outcome != Outcome::Done) return {kFailed};
  Control control{state[process]};
  for (const int place : program.processes[static_cast<std::size_t>(process)].places) control.push_back(state[place]);
  return control;
}

}  // namespace

int LocalProcess::found(const Control& control, std::vector<int>& waiting) {
  const std::size_t known = controls_.size();
  const int number = this->control(control);
  if (controls_.size() > known) waiting.push_back(number);
  return number;
}

void LocalProcess::explore(const Program& program, const Program& orders, int process, bool everything_locked,
                           const LeftOut& left_out) {
  const Process& own = program.processes[static_cast<std::size_t>(process)];
  const Model plain, late{Buffers::PerProcess};
  const Layout layout(program, plain, 0), with_a_store(orders, late, 1);
  Steps steps(program, plain, layout), late_steps(orders, late, with_a_store);
  Ends ends(program, plain, layout, of_one(left_out, process));
  std::vector<std::size_t> sizes;
  for (const Register& r : own.registers) sizes.push_back(r.kept ? r.init.size() : 1);
  if (ways_to_choose(sizes, kMostGuesses) > kMostGuesses) throw TooLarge("a process has too many first values");
  ControlSets::Bits first;
  std::vector<int> waiting;
  for_each_choice(sizes, [&](const std::vector<std::size_t>& chosen) {
    Control start{own.initial};
    for (std::size_t n = 0; n < chosen.size(); ++n)
      start.push_back(own.registers[n].kept ? own.registers[n].init[chosen[n]] : 0);
    const std::vector<Number> state = state_at(program, process, start, static_cast<std::size_t>(layout.places()));
    return ends.for_each(state.data(), nullptr, [&](Outcome outcome, const Number* end) {
      ControlSets::insert(first, found(control_in(program, process, outcome, end), waiting));
      return true;
    });
  });
  first_ = sets.number(first);
  while (!waiting.empty()) {
    const int source = waiting.back();
    waiting.pop_back();
    take_all(program, orders, process, everything_locked, source, steps, late_steps, ends, waiting);
    if (controls_.size() > kMostControls) throw TooLarge("a process can be in too many places by itself");
  }
}

namespace {

// Every variable that the step may load.
std::vector<int> loaded(const Transition& t) {
  std::set<int> found;
  for (const Op& op : t.ops)
    if (op.kind == OpKind::Load || op.kind == OpKind::Modify)
      for (int v = op.base; v < op.base + op.size; ++v) found.insert(v);
  return {found.begin(), found.end()};
}

// What a step loads from memory before it stores there itself, and what it stores.
Action accessed(const std::vector<Access>& accesses) {
  std::map<int, Number> loads, stores;
  for (const Access& access : accesses)
    if (access.writes)
      stores[access.variable] = access.value;
    else if (!stores.contains(access.variable))
      loads[access.variable] = access.value;
  return {{loads.begin(), loads.end()}, {stores.begin(), stores.end()}};
}

}  // namespace

void LocalProcess::take_all(const Program& program, const Program& orders, int process, bool everything_locked, int source,
                            Steps& steps, Steps& late_steps, Ends& ends, std::vector<int>& waiting) {
  const Control here = control(source);
  if (here[0] == kFailed) return;
  const Process& own = program.processes[static_cast<std::size_t>(process)];
  std::vector<Number> state = state_at(program, process, here, static_cast<std::size_t>(late_steps.places()));
  for (const int number : own.leaving[static_cast<std::size_t>(here[0])]) {
    const Transition& t = orders.processes[static_cast<std::size_t>(process)].transitions[static_cast<std::size_t>(number)];
    const bool locked = t.locked || everything_locked;
    const bool has_fence = std::any_of(t.ops.begin(), t.ops.end(), [](const Op& op) { return op.kind == OpKind::Mfence; });
    const std::vector<int> read = loaded(t);
    std::vector<std::size_t> sizes;
    for (const int v : read) sizes.push_back(program.variables[static_cast<std::size_t>(v)].domain.size());
    const std::size_t guesses = ways_to_choose(sizes, kMostGuesses);
    if (guesses > kMostGuesses) throw TooLarge("a step may load too many values");
    tried_ += guesses;
    if (tried_ > kMostTried) throw TooLarge("a process can do too much by itself");
    for (std::size_t v = 0; v < program.variables.size(); ++v)
      state[static_cast<std::size_t>(program.memory_at) + v] = program.variables[v].init.at(0);
    for_each_choice(sizes, [&](const std::vector<std::size_t>& chosen) {
      for (std::size_t n = 0; n < read.size(); ++n)
        state[static_cast<std::size_t>(program.memory_at + read[n])] =
            program.variables[static_cast<std::size_t>(read[n])].domain.lo + static_cast<Number>(chosen[n]);
      std::vector<Access> accesses;
      Watch watch;
      watch.accesses = &accesses;
      const Step step{Step::Kind::Run, process, number};
      if (!everything_locked && late_steps.take(state.data(), step, {}) == Outcome::Blocked) return true;  // by its own store
      const Outcome outcome = steps.take(state.data(), step, watch);
      if (outcome == Outcome::Blocked) return true;
      Action made = accessed(accesses);
      made.is_empty = locked || has_fence;
      made.locked = locked;
      const auto arrive = [&](Outcome end, const Number* after) {
        Action action = made;
        if (end != Outcome::Done) action.stores.clear();
        const int there = found(control_in(program, process, end, after), waiting);
        const auto [place, is_new] = action_numbers_.emplace(action, static_cast<int>(actions_.size()));
        if (is_new) actions_.push_back(&place->first);
        arriving_[static_cast<std::size_t>(there)].emplace(place->second, source);
        return true;
      };
      return outcome == Outcome::Done ? ends.for_each(steps.after(), nullptr, arrive) : arrive(outcome, nullptr);
    });
  }
}

}  // namespace memfence::certificate
