#include "dual/witness.hpp"

#include <algorithm>
#include <optional>

#include "dual/path.hpp"
#include "machine/index.hpp"

namespace memfence::dual {

namespace {

struct Stamped {
  int message;
  int time;  // when it was propagated
};

class Walk {
 public:
  Walk(const Machine& m, Model& model) : machine_(m), model_(model), predecessors_(model, false) {}

  Witness make(const std::vector<Link>& links, const Constraint& last, const Start& start,
               const std::vector<Dropped>& dropped) {
    if (!begin(links.empty() ? last : links[0].before)) return witness_;
    for (std::size_t i = 0; i < links.size(); ++i)
      if (!follow(links[i], i + 1 < links.size() ? links[i + 1].before : last)) return witness_;
    let_in(dropped);
    for (std::size_t part = 0; part < start.bad.size(); ++part)
      if (!go(process_of_[part], start.bad[part])) return witness_;
    witness_.kinds = kinds_;
    witness_.roles.assign(kinds_.size(), -1);
    for (std::size_t part = 0; part < start.bad.size(); ++part) witness_.roles[at(process_of_[part])] = start.processes[part];
    witness_.steps = timeline_.in_order();
    witness_.complete = true;
    return witness_;
  }

 private:
  const ProcessGraph& graph(int p) const { return model_.graphs[at(kinds_[at(p)])]; }
  const LocalGraph& local(int p) const { return model_.local.of[at(kinds_[at(p)])]; }

  // A process that is now in this state.
  int add_process(int kind, int state) {
    kinds_.push_back(kind);
    states_.push_back(state);
    fifos_.emplace_back();
    timeline_.add_process();
    const auto& values = model_.local.of[at(kind)].at(model_.graphs[at(kind)].local[at(state)]);
    witness_.registers.emplace_back(values.begin() + 1, values.begin() + 1 + machine_.processes[at(kind)].registers);
    return static_cast<int>(kinds_.size()) - 1;
  }

  int some_start(int kind, Set set) const {
    for (const int state : model_.graphs[at(kind)].initial)
      if (const auto& states = model_.sets[at(kind)].states(set); std::binary_search(states.begin(), states.end(), state))
        return state;
    return -1;
  }

  // The parts that were dropped, the last one first, come in at their places.
  void let_in(const std::vector<Dropped>& dropped) {
    for (auto d = dropped.rbegin(); d != dropped.rend(); ++d)
      process_of_.insert(process_of_.begin() + d->part, add_process(d->kind, some_start(d->kind, d->set)));
  }

  // An initial state that satisfies the constraint; the messages in it are propagated right away.
  bool begin(Constraint c) {
    const std::vector<Fifo> fifos = c.fifos;
    if (!predecessors_.empty_fifos(c)) return false;
    for (std::size_t n = 0; n < machine_.initial.size(); ++n) {
      const auto& values = machine_.initial[n];
      memory_.assign(values.begin(), values.begin() + machine_.variables);
      std::vector<int> states;
      if (!matches(c) || !choose_states(c, values, states)) continue;
      witness_.start = n;
      for (int part = 0; part < c.parts(); ++part) {
        const int p = add_process(c.kinds[at(part)], states[at(part)]);
        process_of_.push_back(p);
        for (const int message : fifos[at(part)]) fifos_[at(p)].push_back({message, timeline_.now()});
      }
      return true;
    }
    return false;
  }

  bool matches(const Constraint& c) const {
    for (std::size_t place = 0; place < c.memory.size(); ++place) {
      const int variable = model_.local.roles.shared[place], held = c.memory[place];
      if (held != unknown_number && model_.local.value_of(variable, held) != memory_[at(variable)]) return false;
    }
    return true;
  }

  bool choose_states(const Constraint& c, const std::vector<Value>& values, std::vector<int>& states) const {
    for (int part = 0; part < c.parts(); ++part) {
      const int kind = c.kinds[at(part)];
      const Set set = c.sets[at(part)];
      states.push_back(model_.instances.is_unbounded(kind) ? some_start(kind, set) : start_of(kind, set, values));
      if (states.back() < 0) return false;
    }
    return true;
  }

  // The state of a fixed process that has these values; -1 if it is none of the set.
  int start_of(int p, Set set, const std::vector<Value>& values) const {
    const Process& process = machine_.processes[at(p)];
    std::vector<Value> wanted{values[at(process.location_slot)]};
    for (int r = 0; r < process.registers; ++r) wanted.push_back(values[at(process.pending_slot + 1 + r)]);
    for (const int v : model_.local.roles.exclusive[at(p)]) wanted.push_back(values[at(v)]);
    const auto& members = model_.sets[at(p)].states(set);
    const auto found = std::find_if(members.begin(), members.end(), [&](int e) {
      return model_.local.of[at(p)].at(model_.graphs[at(p)].local[at(e)]) == wanted;
    });
    return found == members.end() ? -1 : *found;
  }

  bool holds(int message) const {
    const Facts& facts = model_.messages[message];
    return std::all_of(facts.begin(), facts.end(), [&](const Fact& f) { return memory_[at(f.variable)] == f.value; });
  }

  bool follow(const Link& link, const Constraint& next) {
    let_in(link.made.dropped);
    Constraint after = next;
    if (link.made.newcomer >= 0) after.add_part(link.made.newcomer, predecessors_.anywhere(link.made.newcomer));
    for (int part = 0; part < after.parts(); ++part)
      if (part != link.made.part && !go(process_of_[at(part)], states_of(after, part))) return false;
    propagate(link.made.part, after);
    if (!step(link, after)) return false;
    if (!propagate(link.made.part, after)) return false;
    process_of_.resize(at(next.parts()));
    return true;
  }

  const std::vector<int>& states_of(const Constraint& c, int part) const {
    return model_.sets[at(c.kinds[at(part)])].states(c.sets[at(part)]);
  }

  // Propagate what the FIFOs of all but one part need and memory holds now: as much as can be before the step, the rest
  // after it.
  bool propagate(int mover, const Constraint& after) {
    bool done = true;
    for (int part = 0; part < after.parts(); ++part) {
      std::vector<Stamped>& fifo = fifos_[at(process_of_[at(part)])];
      const Fifo& wanted = after.fifos[at(part)];
      if (part == mover) continue;
      while (fifo.size() < wanted.size() && holds(wanted[fifo.size()])) fifo.push_back({wanted[fifo.size()], timeline_.now()});
      done = done && fifo.size() == wanted.size();
    }
    return done;
  }

  // The step of the link. Backwards its process's FIFO changed like this: `undeleted` owned messages were put in front
  // (whole), the last word went if the step stores or needs an empty FIFO (rest, newer), the store's own message went,
  // perhaps an older one of the same variable came, then what the step loads; then known messages were dropped.
  bool step(const Link& link, const Constraint& after) {
    const int part = link.made.part, p = process_of_[at(part)];
    const Label& label = graph(p).labels[at(link.made.label)];
    Fifo rest(at(link.made.undeleted), own_message);
    rest.insert(rest.end(), after.fifos[at(part)].begin(), after.fifos[at(part)].end());
    Fifo newer;
    const bool empties = label.mode == Mode::Locked || (label.mode == Mode::Fenced && label.only_reads());
    if (!label.only_reads() || empties)
      while (!rest.empty() && rest.back() != own_message) {
        newer.insert(newer.begin(), rest.back());
        rest.pop_back();
      }
    const bool appends = !label.only_reads() && label.mode != Mode::Locked;
    if (appends) {
      if (rest.empty()) return false;
      rest.pop_back();
    }
    const auto way = search(p, states_of(after, part), link.made.label, link.made.undeleted);
    if (!way) return false;
    // Only free steps come before the link's own, only silent ones and deletions after it.
    const auto own = std::find_if(way->rbegin(), way->rend(), [](const Taken& t) { return t.label >= 0; }).base() - 1;
    std::vector<Stamped> kept;
    int loaded_at = timeline_.now();
    if (!propagate_before(p, *own, rest, kept, loaded_at)) return false;
    for (auto t = way->begin(); t != way->end(); ++t)
      if (!take(p, *t, t == own ? loaded_at : free_time(p, *t))) return false;
    if (appends) kept.push_back({own_message, timeline_.now()});
    for (const int message : newer) {
      if (!holds(message)) return false;
      kept.push_back({message, timeline_.now()});
    }
    kept.erase(kept.begin(), kept.begin() + link.made.undeleted);
    fifos_[at(p)] = std::move(kept);
    return true;
  }

  // Complete the FIFO before the step; `kept` is what is left of it right after the step, its own message aside.
  bool propagate_before(int p, const Taken& taken, const Fifo& rest, std::vector<Stamped>& kept, int& loaded_at) {
    const Label& label = graph(p).labels[at(taken.label)];
    const std::size_t owned = graph(p).owned_facts[at(graph(p).owned[at(taken.source)])].size();
    const auto marks = static_cast<std::size_t>(std::count(rest.begin(), rest.end(), own_message));
    const std::vector<Stamped> now = fifos_[at(p)];
    for (std::size_t place = 0; place <= rest.size(); ++place) {
      Fifo whole = rest;
      const bool has_older = owned > marks;
      if (has_older) whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(place), own_message);
      for (const bool prepended : {false, true}) {
        Fifo wanted = whole;
        const bool loads = label.mode == Mode::Plain && label.message != no_message;
        if (prepended) {
          if (!loads) continue;
          wanted.insert(wanted.begin(), label.message);
        } else if (loads && (wanted.empty() || wanted.front() != label.message)) {
          continue;
        }
        if (!completes(now, wanted)) continue;
        std::vector<Stamped> all = now;
        for (std::size_t i = now.size(); i < wanted.size(); ++i) all.push_back({wanted[i], timeline_.now()});
        loaded_at = loads ? all.front().time : timeline_.now();
        kept = std::move(all);
        if (prepended) kept.erase(kept.begin());
        if (has_older) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(place));
        return true;
      }
      if (!has_older) break;
    }
    return false;
  }

  // Whether `now`, with messages that memory holds propagated behind it, is `wanted`.
  bool completes(const std::vector<Stamped>& now, const Fifo& wanted) const {
    if (now.size() > wanted.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (i < now.size() ? now[i].message != wanted[i] : wanted[i] == own_message || !holds(wanted[i])) return false;
    }
    return true;
  }

  // Whether a step changes nothing but the control state, here and now.
  bool is_free(int p, const Label& label) const {
    if (!label.only_reads()) return false;
    const auto& fifo = fifos_[at(p)];
    if (label.mode == Mode::Plain && !fifo.empty()) return fifo.front().message == label.message;
    return fifo.empty() && holds(label.message);
  }

  std::optional<std::vector<Taken>> search(int p, const std::vector<int>& targets, int label, int undeleted) const {
    return find_path(graph(p), {targets, states_[at(p)], label, undeleted}, [&](const Label& l) { return is_free(p, l); });
  }

  // Take free steps until the process is in one of the states.
  bool go(int p, const std::vector<int>& targets) {
    if (std::binary_search(targets.begin(), targets.end(), states_[at(p)])) return true;
    const auto way = search(p, targets, -1, 0);
    if (!way) return false;
    return std::all_of(way->begin(), way->end(), [&](const Taken& t) { return take(p, t, free_time(p, t)); });
  }

  // When a free step loads: the head of the FIFO is as old as it is, memory is now.
  int free_time(int p, const Taken& t) const {
    const auto& fifo = fifos_[at(p)];
    return t.label >= 0 && graph(p).labels[at(t.label)].mode == Mode::Plain && !fifo.empty() ? fifo.front().time
                                                                                             : timeline_.now();
  }

  bool take(int p, const Taken& t, int loaded_at) {
    states_[at(p)] = t.target;
    if (t.label == deletion) return true;
    const std::optional<int> edge = edge_of(p, t);
    if (!edge) return false;
    if (t.label == silent_step) {
      if (*edge >= 0) timeline_.take(p, *edge, 0, false);
      return true;
    }
    const Label& label = graph(p).labels[at(t.label)];
    const bool is_locked = label.mode == Mode::Locked;
    if (*edge >= 0) {
      const int loads_at = label.message == no_message ? 0 : loaded_at;
      const int earliest = label.mode == Mode::Plain ? loads_at : timeline_.now();
      timeline_.take(p, *edge, earliest, is_locked && !label.only_reads());
    }
    if (label.only_reads()) return true;
    for (const Fact& store : label.stores) memory_[at(store.variable)] = store.value;
    timeline_.change(p, is_locked);
    return true;
  }

  // The edge of the machine behind a step; -1 for a store that an earlier one owes.
  std::optional<int> edge_of(int p, const Taken& t) const {
    const Facts& owned = graph(p).owned_facts[at(graph(p).owned[at(t.source)])];
    const auto is_owned = [&](const Fact& read) {
      return std::any_of(owned.begin(), owned.end(), [&](const Fact& f) { return f.variable == read.variable; });
    };
    for (const LocalGraph::Step& step : local(p).steps[at(graph(p).local[at(t.source)])]) {
      if (step.target != graph(p).local[at(t.target)]) continue;
      const Action& a = local(p).actions[at(step.action)];
      Facts reads;
      bool possible = true;
      for (const Fact& read : a.reads) {
        if (!is_owned(read)) {
          reads.push_back(read);
        } else if (std::find(owned.begin(), owned.end(), read) == owned.end()) {
          possible = false;
        }
      }
      const Mode mode = t.label < 0 ? Mode::Plain : graph(p).labels[at(t.label)].mode;
      const Facts& stores = t.label < 0 ? nothing_ : graph(p).labels[at(t.label)].stores;
      const Facts& message = model_.messages[t.label < 0 ? no_message : graph(p).labels[at(t.label)].message];
      if (possible && a.mode == mode && a.stores == stores && reads == message) return step.edge;
    }
    return std::nullopt;
  }

  const Machine& machine_;
  Model& model_;
  Predecessors predecessors_;
  Witness witness_;
  std::vector<int> kinds_;  // per process of the run
  std::vector<int> states_;
  std::vector<std::vector<Stamped>> fifos_;
  std::vector<int> process_of_;  // per part of the constraint that was reached
  std::vector<Value> memory_;
  Timeline timeline_;
  const Facts nothing_;
};

}  // namespace

Witness make_witness(const Machine& machine, Model& model, const std::vector<Link>& links, const Constraint& last,
                     const Start& start, const std::vector<Dropped>& dropped) {
  return Walk(machine, model).make(links, last, start, dropped);
}

}  // namespace memfence::dual
