#include "certificate/dual_rules.hpp"

#include <algorithm>

namespace memfence::certificate {

namespace {

const Model kSc, kTso{Buffers::PerProcess};

// The configuration where memory holds these values; false if it cannot.
bool learn(Configuration& c, const Facts& facts) {
  for (const auto& [x, v] : facts) {
    std::optional<Number>& held = c.memory[static_cast<std::size_t>(x)];
    if (held && *held != v) return false;
    held = v;
  }
  return true;
}

}  // namespace

DualRules::DualRules(const DualAsked& asked)
    : asked_(asked),
      program_(read_program(asked.program, kSc)),
      orders_(read_program(asked.program, kTso)),
      layout_(program_, kSc, 0),
      steps_(program_, kSc, layout_) {
  if (!asked.bad.empty()) bad_ = program_.expression(asked.bad);
  std::vector<int> kinds = asked.fixed;
  for (const std::vector<int>& members : asked.instances) kinds.push_back(members.at(0));
  for (const int kind : kinds) locals_.try_emplace(kind, program_, orders_, kind, asked.everything_locked, asked.left_out);
}

int DualRules::kind_of(int process) const {
  for (const std::vector<int>& members : asked_.instances)
    if (std::find(members.begin(), members.end(), process) != members.end()) return members[0];
  return process;
}

bool DualRules::is_one(const Configuration& c) const {
  const std::size_t count = asked_.fixed.size();
  if (c.parts.size() < count) return false;
  for (std::size_t p = 0; p < c.parts.size(); ++p) {
    const int kind = c.parts[p].kind;
    const auto leads = [&](const std::vector<int>& members) { return members[0] == kind; };
    if (p < count ? asked_.fixed[p] != kind : !std::any_of(asked_.instances.begin(), asked_.instances.end(), leads))
      return false;
  }
  return true;
}

bool DualRules::is_starting(const Part& part) {
  const ControlSets& sets = local(part.kind).sets;
  const auto &here = sets.bits(part.set), &first = sets.bits(local(part.kind).first_set());
  for (std::size_t n = 0; n < std::min(here.size(), first.size()); ++n)
    if ((here[n] & first[n]) != 0) return part.fifo.empty();
  return false;
}

bool DualRules::is_initial(const Configuration& c) {
  for (std::size_t x = 0; x < c.memory.size(); ++x) {
    const std::vector<Number>& init = program_.variables[x].init;
    if (c.memory[x] && std::find(init.begin(), init.end(), *c.memory[x]) == init.end()) return false;
  }
  return std::all_of(c.parts.begin(), c.parts.end(), [&](const Part& part) { return is_starting(part); });
}

bool DualRules::before(const Configuration& c, const Emit& emit) {
  for (std::size_t p = 0; p < c.parts.size(); ++p)
    if (!before_part(c, p, emit)) return false;
  for (const std::vector<int>& members : asked_.instances) {  // one of which nothing was said has stored
    const int kind = members[0];
    for (const auto& [number, sources] : local(kind).storing()) {
      const Action& action = local(kind).action(number);
      Configuration more = c;
      more.parts.push_back({kind, sources, {}});
      for (const Fifo& fifo : action.locked ? std::vector<Fifo>(1) : own_stores(kind, sources, action.stores)) {
        more.parts.back().fifo = fifo;
        if (!before_action(more, c.parts.size(), action, emit)) return false;
      }
    }
  }
  return true;
}

bool DualRules::before_part(const Configuration& c, std::size_t p, const Emit& emit) {
  const Part& part = c.parts[p];
  Configuration d = c;
  if (!part.fifo.empty() && !messages_[part.fifo.back()].own) {  // its newest message came from memory
    d.parts[p].fifo.pop_back();
    if (learn(d, messages_[part.fifo.back()].facts) && !emit(d)) return false;
    d = c;
  }
  for (const Fact& store : local(part.kind).writes()) {  // an own one was deleted
    if (messages_.own_value(part.fifo, store.first)) continue;
    d.parts[p].fifo.insert(d.parts[p].fifo.begin(), own(store));
    if (!emit_owning(d, p, emit)) return false;
    d.parts[p] = part;
  }
  for (const auto& [number, sources] : local(part.kind).leading(part.set)) {
    d.parts[p].set = sources;
    if (!before_action(d, p, local(part.kind).action(number), emit)) return false;
  }
  return true;
}

// Whatever own messages there may be once the newest is there: at most one for each variable counts.
std::vector<Fifo> DualRules::own_stores(int kind, int sources, const Facts& stores) {
  std::set<Fifo> found;
  for (const Facts& before : local(kind).owned(sources)) {
    Fifo fifo;
    for (const Fact& store : with_store(before, stores)) fifo.push_back(own(store));
    found.insert(std::move(fifo));
  }
  return {found.begin(), found.end()};
}

bool DualRules::emit_owning(Configuration& c, std::size_t p, const Emit& emit) {
  Part& part = c.parts[p];
  Facts newest;
  for (std::size_t n = 0; n < part.fifo.size(); ++n)
    if (messages_.is_newest_own(part.fifo, n)) newest.push_back(messages_[part.fifo[n]].facts[0]);
  LocalProcess& own = local(part.kind);
  part.set = own.owning(part.set, newest);
  return own.sets.bits(part.set).empty() || emit(c);
}

bool DualRules::before_action(const Configuration& c, std::size_t p, const Action& action, const Emit& emit) {
  return before_stores(c, p, action, [&](const Configuration& unstored) { return before_loads(unstored, p, action, emit); });
}

bool DualRules::before_loads(const Configuration& c, std::size_t p, const Action& action, const Emit& emit) {
  const Fifo& fifo = c.parts[p].fifo;
  Configuration d = c;
  if (action.is_empty) return !fifo.empty() || !learn(d, action.loads) || emit_owning(d, p, emit);
  Message oldest;
  for (const Fact& load : action.loads) {
    const std::optional<Number> value = messages_.own_value(fifo, load.first);
    if (!value) oldest.facts.push_back(load);
    if (value && *value != load.second) return true;
  }
  if (!oldest.facts.empty()) {
    const int message = messages_.number(oldest);
    if (fifo.empty() || fifo[0] != message) d.parts[p].fifo.insert(d.parts[p].fifo.begin(), message);
  }
  return emit_owning(d, p, emit);
}

bool DualRules::before_stores(const Configuration& c, std::size_t p, const Action& action, const Emit& emit) {
  if (action.stores.empty()) return emit(c);
  Configuration d = c;
  if (!learn(d, action.stores)) return true;
  for (const auto& [x, _] : action.stores) d.memory[static_cast<std::size_t>(x)].reset();
  if (action.locked) return emit(d);
  const Fact& store = action.stores[0];
  Fifo& fifo = d.parts[p].fifo;
  if (fifo.empty() || fifo.back() != own(store)) return true;
  fifo.pop_back();
  if (!emit(d)) return false;
  // Before it there may have been an own message about the same variable, behind all others of the kind.
  std::size_t newest = 0;
  for (std::size_t n = 0; n < fifo.size(); ++n) {
    const Message& message = messages_[fifo[n]];
    if (message.own && message.facts[0].first == store.first) newest = n + 1;
  }
  const Fifo rest = fifo;
  for (const Fact& older : local(c.parts[p].kind).writes()) {
    if (older.first != store.first) continue;
    for (std::size_t n = newest; n <= rest.size(); ++n) {
      fifo = rest;
      fifo.insert(fifo.begin() + static_cast<std::ptrdiff_t>(n), own(older));
      if (!emit(d)) return false;
    }
  }
  return true;
}

}  // namespace memfence::certificate
