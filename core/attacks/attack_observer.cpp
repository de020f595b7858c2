#include "attacks/attack_observer.hpp"

#include <algorithm>

namespace memfence {

AttackObserver::AttackObserver(const Machine& m, const AttackSearch& search, std::shared_ptr<Budget> budget)
    : AttackObserver(m, search, std::move(budget), std::vector<std::uint8_t>(m.processes.size(), false),
                     std::make_shared<std::atomic<bool>>(false)) {
  for (int p = 0; search_.by_text && p < static_cast<int>(m.processes.size()); ++p) is_quiet(p);
  note_whether_done();
}

AttackObserver::AttackObserver(const Machine& m, const AttackSearch& search, std::shared_ptr<Budget> budget,
                               std::vector<std::uint8_t> is_quiet, std::shared_ptr<std::atomic<bool>> done)
    : machine_(&m),
      search_(search),
      budget_(std::move(budget)),
      done_(std::move(done)),
      text_(std::make_unique<WalkText>(m, criterion_, search_.changing)),
      open_(std::make_unique<OpenWalks>(m, criterion_, *text_, search_.changing)),
      walk_(std::make_unique<AttackWalk>(m, criterion_, collect_, budget_)),
      memo_(std::make_unique<WalkMemo>(m)),
      sc_(m),
      resumed_(m.slots.size()),
      is_quiet_(std::move(is_quiet)),
      is_open_(m.processes.size(), false),
      writers_(static_cast<std::size_t>(m.variables)),
      events_(std::make_unique<AtomicEvents>(m, budget_)) {
  if (criterion_ == Criterion::Persistence) {
    torn_ = std::make_unique<TornSteps>(m, budget_);
  } else {
    chain_ = std::make_unique<ChainSearch>(m, budget_);
  }
  for (const auto& [attacker, crossed, separable] : search_.known) learn(attacker, {crossed, separable});
}

bool AttackObserver::is_quiet(int process) {
  const auto p = static_cast<std::size_t>(process);
  if (is_quiet_[p] || is_open_[p]) return is_quiet_[p];
  const bool is_torn = torn_ && torn_->is_possible_anywhere(process);
  is_quiet_[p] = walk_->is_known(process, {}) || (!is_torn && !open_->exist(process, walk_->known(process)));
  is_open_[p] = !is_quiet_[p];
  return is_quiet_[p];
}

void AttackObserver::note_whether_done() {
  if (!search_.by_text) return;
  for (int p = 0; p < static_cast<int>(machine_->processes.size()); ++p)
    if (!is_quiet(p)) return;
  *done_ = true;
}

std::vector<int> AttackObserver::open() {
  std::vector<int> processes;
  for (int p = 0; p < static_cast<int>(machine_->processes.size()); ++p)
    if (!is_quiet(p)) processes.push_back(p);
  return processes;
}

void AttackObserver::expand(Work& w, Index index) {
  if (budget_->why() != Stop::None || AtomicEvents::is_within_one(*machine_, w)) return;
  if (criterion_ == Criterion::Persistence)
    expand_persistence(w, index);
  else
    expand_robustness(w, index);
}

// The walk changes neither memory nor the others, so which variables the others can change is found once per state.
void AttackObserver::expand_persistence(Work& w, Index index) {
  const Machine& m = *machine_;
  const auto location_of = [&](int p) { return w[m.processes[static_cast<std::size_t>(p)].location_slot]; };
  const int processes = static_cast<int>(m.processes.size());
  bool noted = false;
  for (int p = 0; p < processes; ++p) {
    if (is_found_quiet(p)) continue;
    if (torn_->is_possible(p, location_of(p)) && !is_known(p, EndEvent{}) && torn_attacks_.size() < kMostTorn)
      if (const auto torn = torn_->find(w, p)) {
        const EndEvent end{torn->delayed, torn->early, {{torn->committed, true}}, {}, {}, {}, {torn->edge}, {}};
        Attack attack{index, p, end, torn->others, torn->is_store_before};
        if (every_torn_)
          torn_attacks_.push_back(std::move(attack));
        else
          add(std::move(attack));
        if (!collect_) return;
      }
    const std::uint64_t readable = text_->within_reach(p, location_of(p));
    if (readable == 0) continue;
    std::uint64_t written = 0;
    for (int q = 0; q < processes; ++q)
      if (q != p) written |= text_->written_from(q, location_of(q));
    if ((readable & written) == 0) continue;
    // What is left of the memo are the clauses still to be found: usually none, and then the others need not be looked at.
    std::vector<EndEvent>& ends = memo_->run(*walk_, w, p).ends;
    std::erase_if(ends, [&](const EndEvent& end) { return is_known(p, end); });
    if (ends.empty()) continue;
    if (!noted) note_writers(w);
    noted = true;
    for (const EndEvent& end : ends) {
      const int variable = end.accesses.front().first;
      if (!writers_[static_cast<std::size_t>(variable)].has_other_than(p) || is_known(p, end)) continue;
      std::vector<HelperStep> closing = closing_steps(w, p, variable);
      if (closing.empty()) continue;
      add(Attack{index, p, end, std::move(closing)});
      if (!collect_) return;
    }
  }
}

void AttackObserver::note_writers(Work& w) {
  const Machine& m = *machine_;
  std::fill(writers_.begin(), writers_.end(), Writers{});
  for (int q = 0; q < static_cast<int>(m.processes.size()); ++q) {
    const auto location = static_cast<std::size_t>(w[m.processes[static_cast<std::size_t>(q)].location_slot]);
    if (text_->written_from(q, static_cast<Value>(location)) == 0) continue;
    for (const int number : m.leaving[static_cast<std::size_t>(q)][location]) {
      const std::size_t mark = w.mark();
      events_->each(w, number, sc_, [&](const Tried& tried, const auto&, std::span<const HelperStep>) {
        if (tried.happened) note_changes(w, mark, q);
      });
    }
  }
}

// An event that writes a variable several times counts with its last value, against the first value logged.
void AttackObserver::note_changes(const Work& w, std::size_t mark, int process) {
  for (std::size_t i = mark; i < w.log().size(); ++i) {
    const Work::Change& change = w.log()[i];
    if (change.slot >= machine_->variables) continue;
    bool first = true;
    for (std::size_t j = mark; j < i; ++j) first &= w.log()[j].slot != change.slot;
    if (!first || w[change.slot] == change.before) continue;
    Writers& writers = writers_[static_cast<std::size_t>(change.slot)];
    if (writers.first < 0)
      writers.first = process;
    else if (writers.first != process)
      writers.another = process;
  }
}

std::vector<HelperStep> AttackObserver::closing_steps(Work& w, int attacker, int variable) {
  const Machine& m = *machine_;
  const Value before = w[variable];
  for (int q = 0; q < static_cast<int>(m.processes.size()); ++q) {
    if (q == attacker) continue;
    const auto location = static_cast<std::size_t>(w[m.processes[static_cast<std::size_t>(q)].location_slot]);
    for (const int number : m.leaving[static_cast<std::size_t>(q)][location]) {
      std::vector<HelperStep> found;
      events_->each(w, number, sc_, [&](const Tried& tried, const auto&, std::span<const HelperStep> steps) {
        if (tried.happened && w[variable] != before && found.empty()) found.assign(steps.begin(), steps.end());
      });
      if (found.empty()) continue;
      if (found.size() == 1) found.front().completed = false;  // the access is enough
      return found;
    }
  }
  return {};
}

void AttackObserver::expand_robustness(Work& w, Index index) {
  const Machine& m = *machine_;
  paused_.clear();
  for (int p = 0; p < static_cast<int>(m.processes.size()); ++p) {
    if (is_found_quiet(p) || text_->within_reach(p, w[m.processes[static_cast<std::size_t>(p)].location_slot]) == 0) continue;
    AttackWalk::Walked& walked = memo_->run(*walk_, w, p);
    std::erase_if(walked.ends, [&](const EndEvent& end) { return is_known(p, end); });
    std::erase_if(walked.pauses, [&](const Pause& pause) { return !may_go_on(pause); });
    try_ends(w, index, p, walked.ends, nullptr);
    note_pauses(w, walked.pauses, nullptr);
  }
  if (!find_goal()) go_on(index);
}

void AttackObserver::write_memory(Work& w, const std::vector<std::pair<int, Value>>& written) {
  for (const auto& [variable, value] : written) w.set(variable, value);
}

void AttackObserver::try_ends(Work& w, Index index, int attacker, const std::vector<EndEvent>& ends, const Paused* after) {
  for (const EndEvent& end : ends) {
    if (budget_->is_spent()) return;
    if (is_known(attacker, end)) continue;
    const std::size_t mark = w.mark();
    write_memory(w, end.memory);
    const Index root = chain_->root(w, attacker, end.delayed, end.chain, 0, after ? after->node : kNoIndex);
    w.rollback(mark);
    if (root == kNoIndex) continue;
    Attack attack{index, attacker, end};
    if (after) attack.intervals = after->intervals;
    if (!collect_) {
      first_of_root_.try_emplace(root, std::move(attack));
    } else if (chain_->wins(root)) {
      attack.helpers = chain_->path(root);
      add(std::move(attack));
    }
  }
}

// Without `collect`, the first goal ends the search: it belongs to the last of the roots on the way to it.
bool AttackObserver::find_goal() {
  if (collect_) return false;
  if (!chain_->reach_goal()) {
    first_of_root_.clear();  // none of these roots leads anywhere
    return false;
  }
  Index root = chain_->goal_parent();
  while (!first_of_root_.contains(root)) root = chain_->parent(root);
  Attack attack = first_of_root_.at(root);
  attack.helpers = chain_->path(root);
  add(std::move(attack));
  return true;
}

bool AttackObserver::may_go_on(const Pause& pause) const {
  const bool is_over = collect_ && walk_->is_known(pause.attacker, pause.crossed);
  return !is_over && text_->ahead_of(pause.attacker, pause.location) != 0;
}

// A walk that went on from the same node with the same view of memory before need not go on again.
void AttackObserver::note_pauses(Work& w, const std::vector<Pause>& pauses, const Paused* after) {
  for (const Pause& pause : pauses) {
    if (budget_->is_spent()) return;
    if (!may_go_on(pause)) continue;
    const std::uint64_t ahead = text_->ahead_of(pause.attacker, pause.location);
    const Overlay& overlay = pause.overlay;
    const std::size_t mark = w.mark();
    write_memory(w, overlay.written);
    const Index node = chain_->root(w, pause.attacker, overlay.delayed, overlay.chain, ahead, after ? after->node : kNoIndex);
    w.rollback(mark);
    if (node == kNoIndex) continue;
    std::vector<Value> key{static_cast<Value>(node), pause.location, overlay.separated};
    key.insert(key.end(), pause.registers.begin(), pause.registers.end());
    for (const auto& [variable, value] : overlay.pending) key.insert(key.end(), {variable, value});
    if (collect_) {
      key.push_back(-1);
      key.insert(key.end(), pause.crossed.all.begin(), pause.crossed.all.end());
      key.push_back(-1);
      key.insert(key.end(), pause.crossed.some.begin(), pause.crossed.some.end());
    }
    if (!continued_.insert(std::move(key)).second) continue;
    paused_.push_back({pause, node, after ? after->intervals : std::vector<Attack::Interval>{}});
  }
}

void AttackObserver::go_on(Index index) {
  while (!paused_.empty() && !budget_->is_spent()) {
    const Paused paused = std::move(paused_.back());
    paused_.pop_back();
    const Pause& pause = paused.pause;
    if (!may_go_on(pause)) continue;
    const std::uint64_t ahead = text_->ahead_of(pause.attacker, pause.location);
    const std::uint64_t written = criterion_ == Criterion::RobustPso ? ahead : 0;
    for (ChainSearch::Met& met : chain_->meetings(paused.node, ahead, written)) {
      Paused after{pause, met.node, paused.intervals};
      after.intervals.push_back({pause.trail.length(), std::move(met.steps)});
      chain_->restore(met.node, resumed_);
      const AttackWalk::Walked walked = walk_->resume(resumed_, pause);
      try_ends(resumed_, index, pause.attacker, walked.ends, &after);
      note_pauses(resumed_, walked.pauses, &after);
      if (find_goal()) return;
    }
  }
}

// Who is like the attacker can do what it did: exchange the two in the run. Their transitions have the same numbers.
// A clause of one transition that no sfence meets is a fence that must stand there: the text may know.
void AttackObserver::learn(int attacker, const Crossed& clause) {
  for (int p = 0; p < static_cast<int>(machine_->processes.size()); ++p) {
    if (first_alike(p) != first_alike(attacker)) continue;
    walk_->learn(p, clause);
    is_open_[static_cast<std::size_t>(p)] = false;
    if (clause.all.size() == 1 && clause.some.empty()) text_->fence(p, clause.all.front());
  }
}

void AttackObserver::add(Attack&& attack) {
  if (collect_) learn(attack.attacker, {attack.end.crossed, attack.end.separable});
  KnownClause clause = clause_of(attack);
  attacks_.try_emplace(std::move(clause), std::move(attack));
  if (collect_) note_whether_done();
}

void AttackObserver::merge(AttackObserver& other, const StateOrder& states) {
  merged_nodes_ += other.chain_nodes();
  for (auto& [clause, attack] : other.attacks_) {
    const auto [entry, is_new] = attacks_.try_emplace(clause, attack);
    if (!is_new && states.is_less(attack.state, entry->second.state)) entry->second = attack;
    learn(attack.attacker, {attack.end.crossed, attack.end.separable});
  }
  torn_attacks_.insert(torn_attacks_.end(), other.torn_attacks_.begin(), other.torn_attacks_.end());
}

std::vector<Attack> AttackObserver::attacks() {
  std::vector<Attack> found = torn_attacks_;
  for (auto& [clause, attack] : attacks_)
    if (!collect_ || walk_->is_least(attack.attacker, {attack.end.crossed, attack.end.separable})) found.push_back(attack);
  std::stable_sort(found.begin(), found.end(),
                   [](const Attack& a, const Attack& b) { return a.end.crossed.size() < b.end.crossed.size(); });
  return found;
}

}  // namespace memfence
