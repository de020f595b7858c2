#include "attacks/chain.hpp"

#include <algorithm>

namespace memfence {

namespace {

constexpr Value kRead = 1, kWrite = 2;

std::uint64_t bit(int variable) { return std::uint64_t{1} << (variable & 63); }

}  // namespace

// The machine's own slots (a location more, for a process whose step blocked half-way), then the attacker, the delayed
// variable, which processes are in the chain, and for each variable the strongest access in the chain.
std::vector<Slot> ChainSearch::node_slots(const Machine& m) {
  std::vector<Slot> slots = m.slots;
  for (const Process& p : m.processes) {
    slots[static_cast<std::size_t>(p.location_slot)].hi += 1;
    for (int r = 0; r < p.registers; ++r) {  // the attacker's registers, and those of a stuck process, become 0
      Slot& slot = slots[static_cast<std::size_t>(p.pending_slot + 1 + r)];
      slot.lo = std::min(slot.lo, Value{0});
      slot.hi = std::max(slot.hi, Value{0});
    }
  }
  slots.push_back(Slot{0, static_cast<Value>(m.processes.size()) - 1});
  slots.push_back(Slot{0, m.variables});
  for (std::size_t p = 0; p < m.processes.size(); ++p) slots.push_back(Slot{0, 1});
  for (int v = 0; v < m.variables; ++v) slots.push_back(Slot{0, kWrite});
  return slots;
}

ChainSearch::ChainSearch(const Machine& m, std::shared_ptr<Budget> budget)
    : machine_(m),
      budget_(std::move(budget)),
      base_(static_cast<int>(m.slots.size())),
      sc_(m),
      layout_(node_slots(m)),
      states_(layout_.words()),
      events_(m, budget_),
      text_reads_(m.processes.size()),
      text_writes_(m.processes.size()),
      work_(layout_.slots()) {
  for (const Edge& edge : m.edges)
    for (const Op& op : edge.ops) {
      if (op.kind != OpKind::Load && op.kind != OpKind::Store) continue;
      auto& set = (op.kind == OpKind::Store ? text_writes_ : text_reads_)[static_cast<std::size_t>(op.process)];
      if (const int one = m.only_variable(op); one >= 0)
        set.insert(one);
      else
        for (int i = 0; i < op.size; ++i) set.insert(op.base + i);
    }
  const auto bits = [](const std::set<int>& variables) {
    std::uint64_t all = 0;
    for (const int v : variables) all |= bit(v);
    return all;
  };
  for (const auto& set : text_reads_) read_bits_.push_back(bits(set));
  for (const auto& set : text_writes_) write_bits_.push_back(bits(set));
}

// Processes join as soon as their text has a conflicting access; the delayed variable must be within reach of one.
bool ChainSearch::possible_by_text(int attacker, int delayed, const Start& accesses, std::uint64_t ahead) {
  const auto [entry, is_new] = text_answers_.try_emplace({attacker, delayed, accesses, ahead}, false);
  if (!is_new) return entry->second;
  std::set<int> read, written, members;
  for (const auto& [variable, is_store] : accesses) (is_store ? written : read).insert(variable);
  for (int v = 0; v < machine_.variables; ++v)
    if (ahead & bit(v)) written.insert(v);
  for (bool changed = true; changed;) {
    changed = false;
    for (int q = 0; q < static_cast<int>(machine_.processes.size()); ++q) {
      if (q == attacker || members.contains(q)) continue;
      const auto& reads = text_reads_[static_cast<std::size_t>(q)];
      const auto& writes = text_writes_[static_cast<std::size_t>(q)];
      bool joins = false;
      for (const int v : writes) joins |= read.contains(v) || written.contains(v);
      for (const int v : reads) joins |= written.contains(v);
      if (!joins) continue;
      members.insert(q);
      read.insert(reads.begin(), reads.end());
      written.insert(writes.begin(), writes.end());
      entry->second |= reads.contains(delayed) || writes.contains(delayed);
      changed = true;
    }
  }
  return entry->second;
}

Index ChainSearch::root(const Work& w, int attacker, int delayed, const Start& accesses, std::uint64_t ahead, Index after) {
  if (after == kNoIndex && !possible_by_text(attacker, delayed, accesses, ahead)) return kNoIndex;
  if (after == kNoIndex)
    std::fill(work_.data() + base_, work_.data() + layout_.slots(), 0);
  else
    layout_.unpack(states_.state(after), work_.data());
  std::copy(w.data(), w.data() + base_, work_.data());
  const Process& a = machine_.processes[static_cast<std::size_t>(attacker)];
  std::fill_n(work_.data() + a.location_slot, 2 + a.registers, 0);
  work_.data()[attacker_slot()] = attacker;
  work_.data()[delayed_slot()] = delayed;
  for (const auto& [variable, is_store] : accesses) {
    Value& kind = work_.data()[kind_slot(variable)];
    kind = std::max(kind, is_store ? kWrite : kRead);
  }
  normalise(work_);
  work_.settle();
  std::vector<Word> packed(layout_.words());
  layout_.pack(work_.data(), packed.data());
  return states_.insert(packed.data()).index;
}

// What the chain has accessed matters only as far as a process that is not in it yet can come into conflict with it.
void ChainSearch::normalise(Work& w) const {
  std::uint64_t read = 0, written = 0;
  for (int p = 0; p < static_cast<int>(machine_.processes.size()); ++p)
    if (p != w[attacker_slot()] && !w[member_slot(p)]) {
      read |= read_bits_[static_cast<std::size_t>(p)];
      written |= write_bits_[static_cast<std::size_t>(p)];
    }
  for (int v = 0; v < machine_.variables; ++v) {
    const std::uint64_t conflicting = w[kind_slot(v)] == kWrite ? read | written : written;
    if ((conflicting & bit(v)) == 0) w.set(kind_slot(v), 0);
  }
}

std::vector<ChainSearch::Met> ChainSearch::meetings(Index root, std::uint64_t read, std::uint64_t written) {
  struct Visit {
    Index node;
    bool met;
    std::size_t from;
    Child step;
  };
  std::vector<Visit> visits{{root, false, 0, {}}};
  std::set<std::pair<Index, bool>> seen{{root, false}};
  std::vector<Met> found;
  for (std::size_t at = 0; at < visits.size() && !budget_->is_spent(nodes()); ++at) {
    const Visit here = visits[at];
    if (here.met) {
      Met met{here.node, {}};
      for (std::size_t i = at; i != 0; i = visits[i].from) put_before(met.steps, visits[i].step);
      found.push_back(std::move(met));
    }
    Children children_here;
    children(states_.state(here.node), children_here);
    for (std::size_t n = 0; n < children_here.steps.size(); ++n) {
      const Child& child = children_here.steps[n];
      if (child.goal) continue;
      const Index node = states_.insert(&children_here.packed[n * layout_.words()], here.node).index;
      const bool met = here.met || (child.stores & (read | written)) || (child.loads & written);
      if (seen.contains({node, true}) || !seen.insert({node, met}).second) continue;
      visits.push_back({node, met, at, child});
    }
  }
  return found;
}

void ChainSearch::restore(Index node, Work& w) const {
  layout_.unpack(states_.state(node), work_.data());
  std::copy(work_.data(), work_.data() + base_, w.data());
  w.settle();
}

void ChainSearch::put_before(std::vector<HelperStep>& steps, const Child& child) {
  steps.insert(steps.begin(), child.others.begin(), child.others.end());
  steps.insert(steps.begin(), child.step);
}

void ChainSearch::children(const Word* node, Children& out) const {
  out.steps.clear();
  out.packed.clear();
  Work& w = work_;
  layout_.unpack(node, w.data());
  w.settle();
  for (int q = 0; q < static_cast<int>(machine_.processes.size()); ++q) {
    const Process& process = machine_.processes[static_cast<std::size_t>(q)];
    if (q == w[attacker_slot()] || w[process.location_slot] == process.locations) continue;
    for (const int number : machine_.leaving[static_cast<std::size_t>(q)][static_cast<std::size_t>(w[process.location_slot])])
      events_.each(w, number, sc_,
                   [&](const Tried& tried, const std::vector<Access>& accesses, std::span<const HelperStep> steps) {
                     if (tried.happened) add_child(w, q, tried, accesses, steps, out);
                   });
  }
}

// The event is done, in `w`. It is one of the chain if its process takes part already, or if it conflicts with it.
void ChainSearch::add_child(Work& w, int q, const Tried& tried, const std::vector<Access>& accesses,
                            std::span<const HelperStep> steps, Children& out) const {
  const Process& process = machine_.processes[static_cast<std::size_t>(q)];
  bool in_chain = w[member_slot(q)] != 0 || accesses.empty();
  for (const Access& a : accesses) {
    const Value kind = w[kind_slot(a.address)];
    in_chain |= kind == kWrite || (kind == kRead && a.writes());
  }
  if (!in_chain || (accesses.empty() && !tried.completed)) return;
  bool goal = false;
  std::uint64_t loads = 0, stores = 0;
  for (const Access& a : accesses) {
    goal |= a.address == w[delayed_slot()];
    (a.writes() ? stores : loads) |= bit(a.address);
    const Value kind = a.writes() ? kWrite : kRead;
    if (w[kind_slot(a.address)] < kind) w.set(kind_slot(a.address), kind);
  }
  if (!accesses.empty()) w.set(member_slot(q), 1);
  if (!tried.completed) {
    w.set(process.location_slot, process.locations);
    for (int r = 0; r < process.registers; ++r) w.set(process.pending_slot + 1 + r, 0);
  }
  normalise(w);
  out.steps.push_back({steps.front(), goal, loads, stores, {steps.begin() + 1, steps.end()}});
  out.packed.resize(out.packed.size() + layout_.words());
  layout_.pack(w.data(), &out.packed[out.packed.size() - layout_.words()]);
}

bool ChainSearch::reach_goal() {
  for (; explored_ < states_.count() && !budget_->is_spent(nodes()); ++explored_) {
    const Index node = static_cast<Index>(explored_);
    children(states_.state(node), found_);
    for (std::size_t i = 0; i < found_.steps.size(); ++i) {
      ++transitions_;
      if (found_.steps[i].goal) {
        goal_parent_ = node;
        return true;
      }
      states_.insert(&found_.packed[i * layout_.words()], node);
    }
  }
  return false;
}

// Breadth-first over all nodes of all roots; a node that closes the chain, or has a step to one that wins, wins, and so do
// all that lead to it. The search stops as soon as `root` is known to win, and goes on from there for the next root: where
// most roots win, most nodes are never looked at. A root that is not known to win when nothing is left does not.
bool ChainSearch::wins(Index root) {
  const auto is_goal = [](const Child& child) { return child.goal; };
  winning_.resize(states_.count(), false);
  first_link_.resize(states_.count(), kEnd);
  for (; explored_ < states_.count() && !winning_[root] && !budget_->is_spent(nodes()); ++explored_) {
    const Index node = static_cast<Index>(explored_);
    if (winning_[node]) continue;
    children(states_.state(node), found_);
    transitions_ += found_.steps.size();
    if (std::any_of(found_.steps.begin(), found_.steps.end(), is_goal)) {
      mark_winning(node);
      continue;
    }
    for (std::size_t i = 0; i < found_.steps.size() && !winning_[node]; ++i) {
      const Index child = states_.insert(&found_.packed[i * layout_.words()], node).index;
      winning_.resize(states_.count(), false);
      first_link_.resize(states_.count(), kEnd);
      if (winning_[child]) {
        mark_winning(node);
      } else {
        links_.push_back({node, first_link_[child]});
        first_link_[child] = static_cast<std::uint32_t>(links_.size() - 1);
      }
    }
  }
  return winning_[root];
}

void ChainSearch::mark_winning(Index node) {
  std::vector<Index> todo{node};
  winning_[node] = true;
  while (!todo.empty()) {
    const Index at = todo.back();
    todo.pop_back();
    for (std::uint32_t link = first_link_[at]; link != kEnd; link = links_[link].next)
      if (const Index from = links_[link].from; !winning_[from]) {
        winning_[from] = true;
        todo.push_back(from);
      }
    first_link_[at] = kEnd;
  }
}

std::vector<HelperStep> ChainSearch::path(Index root) const {
  struct Visit {
    std::vector<Word> packed;
    std::size_t from;
    Child step;
  };
  std::vector<Visit> visits{{std::vector<Word>(states_.state(root), states_.state(root) + layout_.words()), 0, {}}};
  std::set<std::vector<Word>> seen{visits[0].packed};
  Children found;
  for (std::size_t at = 0; at < visits.size(); ++at) {
    const std::vector<Word> here = visits[at].packed;
    children(here.data(), found);
    for (std::size_t n = 0; n < found.steps.size(); ++n) {
      const Child& step = found.steps[n];
      if (step.goal) {
        std::vector<HelperStep> steps;
        put_before(steps, step);
        for (std::size_t i = at; i != 0; i = visits[i].from) put_before(steps, visits[i].step);
        return steps;
      }
      const auto packed = found.packed.begin() + static_cast<std::ptrdiff_t>(n * layout_.words());
      std::vector<Word> node(packed, packed + static_cast<std::ptrdiff_t>(layout_.words()));
      if (seen.insert(node).second) visits.push_back({std::move(node), at, step});
    }
  }
  return {};
}

}  // namespace memfence
