#include "dual/local.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "machine/index.hpp"

namespace memfence::dual {

namespace {

// A step under way: what it has read and stored so far.
struct Trial {
  std::vector<Value> slots;
  Facts reads;
  Facts stores;  // in order
  bool fenced = false;
};

std::optional<Value> newest(const Facts& facts, int variable) {
  for (auto f = facts.rbegin(); f != facts.rend(); ++f)
    if (f->variable == variable) return f->value;
  return std::nullopt;
}

class LocalBuilder {
 public:
  LocalBuilder(const Machine& m, const Instances& instances, Watch& watch, std::size_t most_values)
      : machine_(m), instances_(instances), watch_(watch), most_values_(most_values) {
    result_.roles = find_roles(m, instances);
    result_.of.resize(m.processes.size());
    values_.resize(at(m.variables));
    readers_.resize(at(m.variables));
    numbers_.resize(m.processes.size());
    actions_.resize(m.processes.size());
    known_.resize(m.processes.size());
  }

  LocalGraphs build() {
    for (int v = 0; v < machine_.variables; ++v)
      for (const Value value : result_.roles.initial[at(v)])
        if (is_allowed({v, value})) values_[at(v)].insert(value);
    for (int p = 0; p < static_cast<int>(machine_.processes.size()); ++p)
      if (instances_.is_kind(p)) add_initial(p);
    while (!queue_.empty() && result_.stop == Stop::None) {
      const auto [process, state] = *queue_.begin();
      queue_.erase(queue_.begin());
      expand(process, state);
    }
    for (const std::set<Value>& found : values_) result_.values.emplace_back(found.begin(), found.end());
    return std::move(result_);
  }

 private:
  const Process& process(int p) const { return machine_.processes[at(p)]; }

  void add_initial(int p) {
    LocalGraph& graph = result_.of[at(p)];
    const Process& me = process(p);
    const auto& mine = result_.roles.exclusive[at(p)];
    graph.fixed_size = 1 + at(me.registers) + mine.size();
    std::set<int> found;
    for (const auto& values : machine_.initial) {
      std::vector<Value> state{values[at(me.location_slot)]};
      for (int r = 0; r < me.registers; ++r) state.push_back(values[at(me.pending_slot + 1 + r)]);
      bool allowed = true;
      for (const int v : mine) {
        state.push_back(values[at(v)]);
        allowed = allowed && is_allowed({v, values[at(v)]});
      }
      if (allowed) found.insert(number(p, std::move(state)));
    }
    graph.initial.assign(found.begin(), found.end());
  }

  int number(int p, std::vector<Value> state) {
    LocalGraph& graph = result_.of[at(p)];
    const auto [place, fresh] = numbers_[at(p)].try_emplace(state, static_cast<int>(graph.states.size()));
    if (fresh) {
      result_.bytes += 2 * state.size() * sizeof(Value) + 160;
      graph.states.push_back(std::move(state));
      graph.steps.emplace_back();
      queue_.emplace(p, place->second);
    }
    return place->second;
  }

  int action(int p, Action a) {
    LocalGraph& graph = result_.of[at(p)];
    const auto [place, fresh] = actions_[at(p)].try_emplace(std::move(a), static_cast<int>(graph.actions.size()));
    if (fresh) graph.actions.push_back(place->first);
    return place->second;
  }

  // A state is expanded again when a variable that it loads gets a new value: steps that are known already are skipped.
  void add_step(int p, int source, int target, Action a, int edge) {
    const int number = action(p, std::move(a));
    if (!known_[at(p)].insert({source, target, number, edge}).second) return;
    result_.bytes += 96;
    result_.of[at(p)].steps[at(source)].push_back({target, number, edge});
  }

  bool is_allowed(const Fact& store) {
    const auto& values = values_[at(store.variable)];
    if (values.size() < most_values_ || values.contains(store.value)) return true;
    result_.truncated = true;
    return false;
  }

  void stored(int variable, Value value) {
    if (!values_[at(variable)].insert(value).second) return;
    queue_.insert(readers_[at(variable)].begin(), readers_[at(variable)].end());
    readers_[at(variable)].clear();
  }

  void expand(int p, int state) {
    const LocalGraph& graph = result_.of[at(p)];
    if (graph.is_failed(state)) return;
    if (graph.owes(state)) return pay(p, state);
    const Process& me = process(p);
    Trial start;
    start.slots.assign(machine_.slots.size(), 0);
    const std::vector<Value> values = graph.at(state);
    start.slots[at(me.location_slot)] = values[0];
    for (int r = 0; r < me.registers; ++r) start.slots[at(me.pending_slot + 1 + r)] = values[at(1 + r)];
    for (const int number : machine_.leaving[at(p)][static_cast<std::size_t>(values[0])]) {
      source_ = state;
      edge_ = number;
      run(p, machine_.edges[at(number)], 0, start);
    }
  }

  void pay(int p, int state) {
    std::vector<Value> next = result_.of[at(p)].at(state);
    const auto first = next.begin() + static_cast<std::ptrdiff_t>(result_.of[at(p)].fixed_size);
    const Fact store{static_cast<int>(first[0]), first[1]};
    if (!is_allowed(store)) return;
    next.erase(first, first + 2);
    write(p, next, store);
    const int target = number(p, std::move(next));
    add_step(p, state, target, Action{Mode::Plain, {}, {store}}, -1);
  }

  // `state` after a store of p: memory changes at once, and so does what p knows about its exclusive variables.
  void write(int p, std::vector<Value>& state, const Fact& store) {
    const Role& role = result_.roles.of[at(store.variable)];
    if (role.kind == Role::Kind::Exclusive) state[at(1 + process(p).registers + role.place)] = store.value;
    stored(store.variable, store.value);
  }

  void run(int p, const Edge& edge, std::size_t from, Trial trial) {
    if ((++tried_ & 1023) == 0 && result_.stop == Stop::None) {
      result_.stop = watch_.check(tried_, tried_, queue_.size(), result_.bytes);
      // A step of one process costs far less than expanding a constraint.
      if (result_.stop == Stop::None) result_.stop = watch_.check_states(tried_ / 16);
    }
    if (result_.stop != Stop::None) return;
    for (std::size_t i = from; i < edge.ops.size(); ++i) {
      const Op& op = edge.ops[i];
      bool failed = false;
      const auto value_of = [&](int e) { return machine_.expressions[at(e)].evaluate(trial.slots.data(), failed); };
      const auto variable_of = [&] {
        const Wide index = value_of(op.index);
        failed = failed || index < 0 || index >= op.size;
        return failed ? -1 : op.base + static_cast<int>(index);
      };
      const auto assign = [&](Wide value) {
        Value fitting;
        if (!machine_.slots[at(op.slot)].fit(value, fitting)) return false;
        trial.slots[at(op.slot)] = fitting;
        return true;
      };
      switch (op.kind) {
        case OpKind::Load: {
          const bool wanted = op.when < 0 || value_of(op.when) != 0;
          if (failed) return fail(p, edge, trial);
          if (!wanted) {
            if (!assign(0)) return fail(p, edge, trial);
            break;
          }
          const int variable = variable_of();
          if (failed) return fail(p, edge, trial);
          const std::optional<Value> certain = certain_value(p, trial, variable);
          if (!certain) return guess(p, edge, i, trial, variable);
          if (!assign(*certain)) return fail(p, edge, trial);
          break;
        }
        case OpKind::Store: {
          const int variable = variable_of();
          const Wide wide = failed ? 0 : value_of(op.value);
          Value value = 0;
          if (failed || !machine_.slots[at(variable)].fit(wide, value)) return fail(p, edge, trial);
          trial.stores.push_back({variable, value});
          break;
        }
        case OpKind::Assign: {
          const Wide value = value_of(op.value);
          if (failed || !assign(value)) return fail(p, edge, trial);
          break;
        }
        case OpKind::Assume:
        case OpKind::Assert: {
          const bool truth = value_of(op.value) != 0;
          if (failed || (!truth && op.kind == OpKind::Assert)) return fail(p, edge, trial);
          if (!truth) return;
          break;
        }
        case OpKind::Mfence:
          if (!edge.locked && !trial.stores.empty()) return;  // the step's own store is pending: never possible
          trial.fenced = true;
          break;
        case OpKind::Sfence: break;
        case OpKind::Lock:
        case OpKind::Unlock: return;  // engines/dual.py does not ask about such programs
      }
    }
    finish(p, edge, trial);
  }

  std::optional<Value> certain_value(int p, const Trial& trial, int variable) const {
    if (const auto own = newest(trial.stores, variable)) return own;
    if (const auto again = newest(trial.reads, variable)) return again;
    const Role& role = result_.roles.of[at(variable)];
    if (role.kind == Role::Kind::Constant) return role.value;
    if (role.kind == Role::Kind::Exclusive && role.owner == p)
      return result_.of[at(p)].at(source_)[at(1 + process(p).registers + role.place)];
    return std::nullopt;
  }

  void guess(int p, const Edge& edge, std::size_t i, const Trial& trial, int variable) {
    readers_[at(variable)].emplace(p, source_);
    const Op& op = edge.ops[i];
    // A copy: a step that stores what it reads must not change the set that it walks through.
    const std::vector<Value> values(values_[at(variable)].begin(), values_[at(variable)].end());
    for (const Value value : values) {
      Trial next = trial;
      next.reads.push_back({variable, value});
      Value fitting;
      if (!machine_.slots[at(op.slot)].fit(value, fitting)) {
        fail(p, edge, next);
        continue;
      }
      next.slots[at(op.slot)] = fitting;
      run(p, edge, i + 1, std::move(next));
    }
  }

  Mode mode_of(const Edge& edge, const Trial& trial) const {
    return edge.locked ? Mode::Locked : trial.fenced ? Mode::Fenced : Mode::Plain;
  }

  // What the failing step stored before is of no interest any more; what its process stored before that still is.
  void fail(int p, const Edge& edge, const Trial& trial) {
    std::vector<Value> state = result_.of[at(p)].at(source_);
    std::fill(state.begin(), state.begin() + 1 + process(p).registers, 0);
    state[0] = failed_location;
    Action a{mode_of(edge, trial), trial.reads, {}};
    std::sort(a.reads.begin(), a.reads.end());
    const int target = number(p, std::move(state));
    add_step(p, source_, target, std::move(a), edge_);
  }

  void finish(int p, const Edge& edge, Trial& trial) {
    const Process& me = process(p);
    for (const int slot : me.scratch_slots) trial.slots[at(slot)] = 0;
    std::vector<Value> state{edge.target};
    for (int r = 0; r < me.registers; ++r) state.push_back(trial.slots[at(me.pending_slot + 1 + r)]);
    const auto& before = result_.of[at(p)].at(source_);
    state.insert(state.end(), before.begin() + 1 + me.registers, before.end());
    Action a{mode_of(edge, trial), std::move(trial.reads), {}};
    std::sort(a.reads.begin(), a.reads.end());
    if (!std::all_of(trial.stores.begin(), trial.stores.end(), [&](const Fact& s) { return is_allowed(s); })) return;
    if (edge.locked) {
      std::map<int, Value> last;
      for (const Fact& s : trial.stores) last[s.variable] = s.value;
      for (const auto& [variable, value] : last) {
        a.stores.push_back({variable, value});
        write(p, state, a.stores.back());
      }
    } else if (!trial.stores.empty()) {
      a.stores.push_back(trial.stores.front());
      write(p, state, a.stores.back());
      for (std::size_t i = 1; i < trial.stores.size(); ++i) {
        state.push_back(trial.stores[i].variable);
        state.push_back(trial.stores[i].value);
      }
    }
    const int target = number(p, std::move(state));
    add_step(p, source_, target, std::move(a), edge_);
  }

  const Machine& machine_;
  const Instances& instances_;
  Watch& watch_;
  std::size_t most_values_;
  std::uint64_t tried_ = 0;
  LocalGraphs result_;
  std::vector<std::set<Value>> values_;  // per variable: what memory may hold, so far
  std::vector<std::unordered_map<std::vector<Value>, int, HashNumbers>> numbers_;
  std::vector<std::map<Action, int>> actions_;
  std::vector<std::set<std::array<int, 4>>> known_;
  std::vector<std::set<std::pair<int, int>>> readers_;  // per variable: (process, state) that guessed its value
  std::set<std::pair<int, int>> queue_;
  int source_ = 0, edge_ = 0;
};

}  // namespace

Roles find_roles(const Machine& machine, const Instances& instances) {
  std::vector<std::set<int>> writers(at(machine.variables));
  const int somebody_else = static_cast<int>(machine.processes.size());
  for (const Edge& edge : machine.edges)
    for (const Op& op : edge.ops) {
      if (op.kind != OpKind::Store) continue;
      const int one = machine.only_variable(op), first = one >= 0 ? one : op.base;
      for (int v = first; v < first + (one >= 0 ? 1 : op.size); ++v)
        writers[at(v)].insert({op.process, instances.is_unbounded(op.process) ? somebody_else : op.process});
    }
  Roles roles;
  roles.exclusive.resize(machine.processes.size());
  for (int v = 0; v < machine.variables; ++v) {
    std::set<Value> initial;
    for (const auto& values : machine.initial) initial.insert(values[at(v)]);
    roles.initial.emplace_back(initial.begin(), initial.end());
    Role role{Role::Kind::Shared};
    if (writers[at(v)].empty() && initial.size() == 1) {
      role.kind = Role::Kind::Constant;
      role.value = *initial.begin();
    } else if (writers[at(v)].size() == 1) {
      role.kind = Role::Kind::Exclusive;
      role.owner = *writers[at(v)].begin();
      role.place = static_cast<int>(roles.exclusive[at(role.owner)].size());
      roles.exclusive[at(role.owner)].push_back(v);
    } else {
      role.place = static_cast<int>(roles.shared.size());
      roles.shared.push_back(v);
    }
    roles.of.push_back(role);
  }
  return roles;
}

int LocalGraphs::number_of(int variable, Value value) const {
  const std::vector<Value>& all = values[static_cast<std::size_t>(variable)];
  const auto place = std::lower_bound(all.begin(), all.end(), value);
  return place == all.end() || *place != value ? unknown_number : static_cast<int>(place - all.begin());
}

LocalGraphs build_local_graphs(const Machine& machine, const Instances& instances, Watch& watch, std::size_t most_values) {
  return LocalBuilder(machine, instances, watch, most_values).build();
}

}  // namespace memfence::dual
