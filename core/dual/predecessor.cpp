#include "dual/predecessor.hpp"

#include <algorithm>

#include "machine/index.hpp"

namespace memfence::dual {

namespace {

bool mentions(const Facts& facts, const Facts& changed) {
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& f) {
    return std::any_of(changed.begin(), changed.end(), [&](const Fact& g) { return f.variable == g.variable; });
  });
}

}  // namespace

Predecessors::Predecessors(Model& model, bool reduce) : model_(model), reduce_(reduce) {
  anywhere_.assign(model.sets.size(), empty_set);
  for (int p = model.instances.fixed; p < static_cast<int>(model.sets.size()); ++p) {
    if (!model.instances.is_kind(p)) continue;
    const ProcessGraph& graph = model.graphs[at(p)];
    std::vector<int> states;
    for (std::size_t e = 0; e < graph.size(); ++e)
      if (graph.owned[e] == 0) states.push_back(static_cast<int>(e));
    anywhere_[at(p)] = model.sets[at(p)].close(std::move(states));
  }
}

void Predecessors::of(const Constraint& c, const Emit& emit) {
  made_.newcomer = -1;
  if (reduce_)
    for (int p = 0; p < c.parts(); ++p)
      if (must_load(c, p)) return moves(c, p, 0, emit);
  for (int p = 0; p < c.parts(); ++p) moves(c, p, 0, emit);
  for (int kind = model_.instances.fixed; kind < static_cast<int>(anywhere_.size()); ++kind) {
    if (anywhere(kind) == empty_set) continue;
    Constraint larger = c;
    larger.add_part(kind, anywhere(kind));
    made_.newcomer = kind;
    moves(larger, c.parts(), 0, emit);
  }
}

bool Predecessors::must_load(const Constraint& c, int p) {
  const Set set = c.sets[at(p)];
  return sets(c, p).loads_only(set) && !sets(c, p).has_initial(set, sets(c, p).graph().initial);
}

// `deleted` owned messages were put back in front for the sake of the step that follows now. Where it only stores, older
// ones can wait until after it: one is enough, and only where its process owns nothing else.
void Predecessors::moves(const Constraint& c, int p, int deleted, const Emit& emit) {
  const Set here = c.sets[at(p)];
  const bool owns = !sets(c, p).owned_facts(here).empty();
  const bool may_store = deleted == 0 || (deleted == 1 && sets(c, p).owned_facts(here).size() == 1);
  for (const Sets::Move& move : sets(c, p).moves(here)) {
    if (stopped_) return;
    const Label& label = sets(c, p).label(move.label);
    if (made_.newcomer >= 0 && label.only_reads()) continue;
    made_.part = p;
    made_.label = move.label;
    made_.undeleted = deleted;
    if (label.mode == Mode::Locked || (label.mode == Mode::Fenced && label.only_reads())) {
      if (!owns) fenced(c, p, move, emit);
    } else if (!label.only_reads()) {
      if (may_store || label.loads) write(c, p, move, emit);
    } else {
      read(c, p, move, emit);
    }
  }
  for (const Set before : sets(c, p).undeleted(here)) {
    if (stopped_) return;
    Constraint longer = c;
    longer.sets[at(p)] = before;
    longer.fifos[at(p)].insert(longer.fifos[at(p)].begin(), own_message);
    moves(longer, p, deleted + 1, emit);
  }
}

void Predecessors::read(const Constraint& c, int p, const Sets::Move& move, const Emit& emit) {
  const int message = sets(c, p).label(move.label).message;
  const Fifo& fifo = c.fifos[at(p)];
  if (!fifo.empty() && fifo.front() == message) return;                   // part of the set already
  if (fifo.empty() && is_known(c, model_.messages[message])) return;      // likewise
  for (const Set before : move.before) {
    Constraint made = c;
    made.sets[at(p)] = before;
    made.fifos[at(p)].insert(made.fifos[at(p)].begin(), message);
    if (normalise(made)) emit(std::move(made));
  }
}

void Predecessors::write(const Constraint& c, int p, const Sets::Move& move, const Emit& emit) {
  const Label& label = sets(c, p).label(move.label);
  Constraint after = c;
  if (!empty_last_word(after, p)) return;
  after.sets[at(p)] = move.after;
  if (!learn(after, label.stores)) return;
  const int number = move.label;
  expose(after, label.stores, 0, [&](Constraint&& exposed) { write_exposed(exposed, p, number, emit); });
}

void Predecessors::write_exposed(const Constraint& c, int p, int label_number, const Emit& emit) {
  const Label& label = sets(c, p).label(label_number);
  const int variable = label.stores.front().variable;
  Fifo shorter = c.fifos[at(p)];
  shorter.pop_back();
  for (const Sets::Move& move : sets(c, p).moves(c.sets[at(p)])) {
    if (move.label != label_number) continue;
    for (const Set before : move.before) {
      Constraint made = c;
      made.sets[at(p)] = before;
      made.fifos[at(p)] = shorter;
      forget(made, variable);
      const Facts& owned = sets(c, p).owned_facts(before);
      const auto older = std::find_if(owned.begin(), owned.end(), [&](const Fact& f) { return f.variable == variable; });
      if (older == owned.end()) {
        load_before(made, p, label, emit);
        continue;
      }
      // An older store to the same variable is pending: anywhere between its neighbours. In front of everything it would
      // be the oldest message, which the next step of the process may put there itself; unless this step loads it.
      auto neighbours = older - owned.begin();
      std::size_t place = 0;
      for (; neighbours > 0; ++place) neighbours -= shorter[place] == own_message;
      for (;; ++place) {
        if (place > 0 || label.loads) {
          Constraint split = made;
          Fifo& fifo = split.fifos[at(p)];
          fifo.insert(fifo.begin() + static_cast<std::ptrdiff_t>(place), own_message);
          load_before(split, p, label, emit);
        }
        if (place == shorter.size() || shorter[place] == own_message) break;
      }
    }
  }
}

// What the step loads before it stores.
void Predecessors::load_before(Constraint& c, int p, const Label& label, const Emit& emit) {
  Fifo& fifo = c.fifos[at(p)];
  if (label.mode == Mode::Fenced) {
    if (!sets(c, p).owned_facts(c.sets[at(p)]).empty() || !empty_last_word(c, p)) return;
    if (label.message != no_message && !learn(c, model_.messages[label.message])) return;
  } else if (label.message != no_message && (fifo.empty() || fifo.front() != label.message)) {
    fifo.insert(fifo.begin(), label.message);
  }
  if (normalise(c)) emit(std::move(c));
}

void Predecessors::fenced(const Constraint& c, int p, const Sets::Move& move, const Emit& emit) {
  const Label& label = sets(c, p).label(move.label);
  if (label.only_reads() && c.fifos[at(p)].empty() && is_known(c, model_.messages[label.message])) return;
  Constraint after = c;
  if (!empty_last_word(after, p)) return;
  after.sets[at(p)] = move.after;
  if (!learn(after, label.stores)) return;
  const int number = move.label;
  if (label.only_reads()) return locked_exposed(after, p, number, emit);
  expose(after, label.stores, 0, [&](Constraint&& exposed) { locked_exposed(exposed, p, number, emit); });
}

void Predecessors::locked_exposed(const Constraint& c, int p, int label_number, const Emit& emit) {
  const Label& label = sets(c, p).label(label_number);
  for (const Sets::Move& move : sets(c, p).moves(c.sets[at(p)])) {
    if (move.label != label_number) continue;
    for (const Set before : move.before) {
      Constraint made = c;
      made.sets[at(p)] = before;
      for (const Fact& store : label.stores) forget(made, store.variable);
      if (label.message != no_message && !learn(made, model_.messages[label.message])) continue;
      if (normalise(made)) emit(std::move(made));
    }
  }
}

void Predecessors::expose(const Constraint& c, const Facts& changed, int from, const Emit& emit) {
  Constraint base = c;
  drop_known_messages(base);
  for (int q = from; q < base.parts(); ++q) {
    const Fifo& fifo = base.fifos[at(q)];
    Constraint made = base;
    for (auto message = fifo.rbegin(); message != fifo.rend() && *message != own_message; ++message) {
      const Facts& facts = model_.messages[*message];
      if (!learn(made, facts)) break;
      made.fifos[at(q)].pop_back();
      if (!mentions(facts, changed)) continue;
      expose(made, changed, q, emit);
      break;
    }
  }
  emit(std::move(base));
}

bool Predecessors::empty_last_word(Constraint& c, int p) {
  Fifo& fifo = c.fifos[at(p)];
  while (!fifo.empty() && fifo.back() != own_message) {
    if (!learn(c, model_.messages[fifo.back()])) return false;
    fifo.pop_back();
  }
  return true;
}

void Predecessors::drop_known_messages(Constraint& c) {
  for (Fifo& fifo : c.fifos)
    while (!fifo.empty() && fifo.back() != own_message && is_known(c, model_.messages[fifo.back()])) fifo.pop_back();
}

bool Predecessors::normalise(Constraint& c) {
  if (std::find(c.sets.begin(), c.sets.end(), empty_set) != c.sets.end()) return false;
  drop_known_messages(c);
  for (int p = 0; p < c.parts(); ++p) saturate(c, p);
  drop_starting_parts(c);
  return true;
}

void Predecessors::drop_starting_parts(Constraint& c) {
  made_.dropped.clear();
  for (int p = c.parts(); --p >= model_.instances.fixed;) {
    if (!is_starting(c, p)) continue;
    made_.dropped.push_back({p, c.kinds[at(p)], c.sets[at(p)]});
    c.drop_part(p);
  }
}

bool Predecessors::is_starting(const Constraint& c, int p) {
  Sets& mine = sets(c, p);
  const Set set = c.sets[at(p)];
  return c.fifos[at(p)].empty() && mine.owned(set) == 0 && mine.has_initial(set, mine.graph().initial);
}

void Predecessors::saturate(Constraint& c, int p) {
  const Fifo& fifo = c.fifos[at(p)];
  Set& set = c.sets[at(p)];
  for (bool grew = true; grew;) {
    grew = false;
    for (const Sets::Move& move : sets(c, p).moves(set)) {
      const Label& label = sets(c, p).label(move.label);
      if (!label.only_reads()) continue;
      const bool at_head = label.mode == Mode::Plain && !fifo.empty() && fifo.front() == label.message;
      if (!at_head && !(fifo.empty() && is_known(c, model_.messages[label.message]))) continue;
      Set larger = set;
      for (const Set before : move.before) larger = sets(c, p).unite(larger, before);
      if (larger == set) continue;
      set = larger;
      grew = true;
      break;  // the moves are those of the old set
    }
  }
}

bool Predecessors::is_initial(const Constraint& c) {
  for (int p = 0; p < c.parts(); ++p) {
    if (sets(c, p).owned(c.sets[at(p)]) != 0) return false;
    if (!sets(c, p).has_initial(c.sets[at(p)], sets(c, p).graph().initial)) return false;
  }
  Constraint start = c;
  if (!empty_fifos(start)) return false;
  for (int p = 0; p < c.parts(); ++p)
    if (!sets(c, p).has_initial(start.sets[at(p)], sets(c, p).graph().initial)) return false;
  for (std::size_t place = 0; place < start.memory.size(); ++place) {
    const int variable = model_.local.roles.shared[place], held = start.memory[place];
    if (held == unknown_number) continue;
    const auto& initial = model_.local.roles.initial[at(variable)];
    if (std::find(initial.begin(), initial.end(), model_.local.value_of(variable, held)) == initial.end()) return false;
  }
  return true;
}

bool Predecessors::empty_fifos(Constraint& c) {
  for (int p = 0; p < c.parts(); ++p)
    if (!empty_last_word(c, p)) return false;
  return true;
}

bool Predecessors::learn(Constraint& c, const Facts& facts) {
  return std::all_of(facts.begin(), facts.end(), [&](const Fact& fact) { return learn(c, fact); });
}

// Memory must hold this, too.
bool Predecessors::learn(Constraint& c, const Fact& fact) {
  const Role& r = role(fact.variable);
  switch (r.kind) {
    case Role::Kind::Constant: return r.value == fact.value;
    case Role::Kind::Exclusive: {
      Set& set = c.sets[at(r.owner)];
      set = model_.sets[at(r.owner)].restrict(set, r.place, fact.value);
      return set != empty_set;
    }
    case Role::Kind::Shared: {
      int& held = c.memory[at(r.place)];
      if (held != unknown_number) return model_.local.value_of(fact.variable, held) == fact.value;
      held = model_.local.number_of(fact.variable, fact.value);
      return held != unknown_number;
    }
  }
  return false;
}

// An exclusive variable's value is in the control states of its owner, which have just changed.
void Predecessors::forget(Constraint& c, int variable) {
  if (role(variable).kind == Role::Kind::Shared) c.memory[at(role(variable).place)] = unknown_number;
}

bool Predecessors::is_known(const Constraint& c, const Facts& facts) const {
  return std::all_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    const Role& r = role(fact.variable);
    switch (r.kind) {
      case Role::Kind::Constant: return r.value == fact.value;
      case Role::Kind::Exclusive: return model_.sets[at(r.owner)].known(c.sets[at(r.owner)], r.place) == fact.value;
      case Role::Kind::Shared: {
        const int held = c.memory[at(r.place)];
        return held != unknown_number && model_.local.value_of(fact.variable, held) == fact.value;
      }
    }
    return false;
  });
}

}  // namespace memfence::dual
