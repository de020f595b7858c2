#include "dual/start.hpp"

#include <algorithm>

#include "machine/index.hpp"

namespace memfence::dual {

namespace {

// One thing that a bad expression looks at: a process, or a shared variable. Its choices are what it can tell apart.
struct Dimension {
  std::vector<std::vector<int>> members;  // of a process: the states behind each choice
  std::vector<std::vector<std::pair<int, Value>>> slots;  // what each choice puts into the slots
};

class Finder {
 public:
  Finder(const Machine& m, Model& model, const Question& question, Watch& watch)
      : machine_(m), model_(model), question_(question), watch_(watch) {}

  bool find(std::vector<Start>& out) {
    out_ = &out;
    if (question_.failures)
      for (int p = 0; p < processes(); ++p)
        if (model_.instances.is_kind(p)) add_failure(p);
    if (question_.bad >= 0 && !add_bad(question_.bad, Kind::BadState)) return false;
    return question_.bad_final < 0 || add_bad(question_.bad_final, Kind::BadFinal);
  }

 private:
  int processes() const { return static_cast<int>(machine_.processes.size()); }
  int kind_of(int p) const { return model_.instances.kind_of[at(p)]; }

  Start nowhere(Kind kind) const {
    Start start{kind, {}, {}, {}};
    start.constraint.memory.assign(model_.local.roles.shared.size(), unknown_number);
    return start;
  }

  // One more process in one of these states, nothing pending.
  void add_part(Start& start, int p, std::vector<int> states) {
    std::sort(states.begin(), states.end());
    start.constraint.add_part(kind_of(p), model_.sets[at(kind_of(p))].close(states));
    start.bad.push_back(std::move(states));
    start.processes.push_back(p);
  }

  void add_failure(int failed) {
    Start start = nowhere(Kind::Failure);
    for (int p = 0; p < processes(); ++p) {
      if (p != failed && model_.instances.is_unbounded(p)) continue;
      const ProcessGraph& graph = model_.graphs[at(p)];
      std::vector<int> states;
      for (std::size_t e = 0; e < graph.size(); ++e)
        if (graph.owned[e] == 0 && (p != failed || model_.local.of[at(p)].is_failed(graph.local[e])))
          states.push_back(static_cast<int>(e));
      if (states.empty()) return;
      add_part(start, p, std::move(states));
    }
    out_->push_back(std::move(start));
  }

  bool add_bad(int number, Kind kind) {
    expression_ = &machine_.expressions[at(number)];
    read_ = expression_->slots_read();
    dimensions_.clear();
    for (int p = 0; p < processes(); ++p) add_process(p, kind == Kind::BadFinal);
    for (const int v : model_.local.roles.shared)
      if (reads(v)) add_variable(v);
    std::size_t combinations = 1;
    for (const Dimension& d : dimensions_) combinations *= d.slots.size();
    if (combinations == 0) return true;
    if (combinations > most_combinations || watch_.would_exceed(0, combinations / 8)) return false;
    if (!tabulate(combinations)) return false;
    for (std::size_t n = 0; n < combinations; ++n)
      if (truth_[n] && !covered_[n]) add_box(n, kind);
    return true;
  }

  static constexpr std::size_t most_combinations = std::size_t{1} << 28;

  bool reads(int slot) const { return std::binary_search(read_.begin(), read_.end(), slot); }

  void add_process(int p, bool halted_only) {
    const Process& process = machine_.processes[at(p)];
    const LocalGraph& local = model_.local.of[at(kind_of(p))];
    const ProcessGraph& graph = model_.graphs[at(kind_of(p))];
    std::map<std::vector<Value>, std::size_t> numbers;
    Dimension d;
    for (std::size_t e = 0; e < graph.size(); ++e) {
      const int s = graph.local[e];
      if (graph.owned[e] != 0 || local.is_failed(s) || local.owes(s)) continue;
      const auto& values = local.at(s);
      if (halted_only && !machine_.is_halted(p, values[0])) continue;
      std::vector<std::pair<int, Value>> slots{{process.location_slot, values[0]}};
      std::vector<Value> seen;
      if (reads(process.location_slot)) seen.push_back(question_.location_classes[at(p)][static_cast<std::size_t>(values[0])]);
      const auto look = [&](int slot, Value value) {
        if (!reads(slot)) return;
        slots.emplace_back(slot, value);
        seen.push_back(value);
      };
      for (int r = 0; r < process.registers; ++r) look(process.pending_slot + 1 + r, values[at(1 + r)]);
      const auto& exclusive = model_.local.roles.exclusive[at(p)];
      for (std::size_t i = 0; i < exclusive.size(); ++i) look(exclusive[i], values[at(1 + process.registers) + i]);
      const auto [place, fresh] = numbers.try_emplace(std::move(seen), d.slots.size());
      if (fresh) {
        d.slots.push_back(std::move(slots));
        d.members.emplace_back();
      }
      d.members[place->second].push_back(static_cast<int>(e));
    }
    dimensions_.push_back(std::move(d));
  }

  void add_variable(int variable) {
    Dimension d;
    for (const Value value : model_.local.values[at(variable)]) d.slots.push_back({{variable, value}});
    dimensions_.push_back(std::move(d));
  }

  // The truth of the expression for every combination of choices; the last dimension moves fastest.
  bool tabulate(std::size_t combinations) {
    truth_.assign(combinations, false);
    covered_.assign(combinations, false);
    std::vector<Value> slots(machine_.slots.size(), 0);
    for (int v = 0; v < machine_.variables; ++v) {
      const Role& role = model_.local.roles.of[at(v)];
      if (role.kind == Role::Kind::Constant) slots[at(v)] = role.value;
    }
    for (std::size_t n = 0; n < combinations; ++n) {
      std::size_t rest = n;
      for (std::size_t d = dimensions_.size(); d-- > 0;) {
        const auto& choices = dimensions_[d].slots;
        for (const auto& [slot, value] : choices[rest % choices.size()]) slots[at(slot)] = value;
        rest /= choices.size();
      }
      bool failed = false;
      truth_[n] = expression_->evaluate(slots.data(), failed) != 0 && !failed;
      if ((n & 0xffff) == 0xffff && watch_.check(0, 0, 0, combinations / 8) != Stop::None) return false;
    }
    return true;
  }

  using Box = std::vector<std::vector<std::size_t>>;  // per dimension: choices

  template <class Visit>
  bool every(const Box& box, Visit visit) const {
    std::vector<std::size_t> at_choice(box.size(), 0);
    while (true) {
      std::size_t n = 0;
      for (std::size_t d = 0; d < box.size(); ++d) n = n * dimensions_[d].slots.size() + box[d][at_choice[d]];
      if (!visit(n)) return false;
      std::size_t d = box.size();
      while (d > 0 && ++at_choice[d - 1] == box[d - 1].size()) at_choice[--d] = 0;
      if (d == 0) return true;
    }
  }

  // Grow the combination into as large a product of choices as is bad throughout: fewer, larger constraints.
  void add_box(std::size_t n, Kind kind) {
    Box box(dimensions_.size());
    for (std::size_t d = dimensions_.size(); d-- > 0;) {
      box[d] = {n % dimensions_[d].slots.size()};
      n /= dimensions_[d].slots.size();
    }
    for (std::size_t d = 0; d < box.size(); ++d)
      for (std::size_t choice = 0; choice < dimensions_[d].slots.size(); ++choice) {
        if (choice == box[d].front()) continue;
        Box slice = box;
        slice[d] = {choice};
        if (every(slice, [&](std::size_t m) { return static_cast<bool>(truth_[m]); })) box[d].push_back(choice);
      }
    every(box, [&](std::size_t m) { return covered_[m] = true; });
    Start start = nowhere(kind);
    for (int p = 0; p < processes(); ++p) {
      const Dimension& d = dimensions_[at(p)];
      // Of a kind of which there may be any number, a process that may be anywhere need not be there at all.
      if (model_.instances.is_unbounded(p) && box[at(p)].size() == d.slots.size()) continue;
      std::vector<int> states;
      for (const std::size_t choice : box[at(p)])
        states.insert(states.end(), d.members[choice].begin(), d.members[choice].end());
      add_part(start, p, std::move(states));
    }
    add_memory(start, box, machine_.processes.size());
  }

  // One constraint for each combination of values of the shared variables, unless all values will do.
  void add_memory(const Start& start, const Box& box, std::size_t d) {
    if (d == box.size()) return out_->push_back(start);
    if (box[d].size() == dimensions_[d].slots.size()) return add_memory(start, box, d + 1);
    for (const std::size_t choice : box[d]) {
      Start made = start;
      const auto& [variable, value] = dimensions_[d].slots[choice].front();
      made.constraint.memory[at(model_.local.roles.of[at(variable)].place)] = model_.local.number_of(variable, value);
      add_memory(made, box, d + 1);
    }
  }

  const Machine& machine_;
  Model& model_;
  const Question& question_;
  Watch& watch_;
  std::vector<Start>* out_ = nullptr;
  const Expression* expression_ = nullptr;
  std::vector<int> read_;
  std::vector<Dimension> dimensions_;
  std::vector<bool> truth_, covered_;
};

}  // namespace

bool find_starts(const Machine& machine, Model& model, const Question& question, Watch& watch, std::vector<Start>& out) {
  return Finder(machine, model, question, watch).find(out);
}

}  // namespace memfence::dual
