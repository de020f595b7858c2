#include "certify/dual_search.hpp"

namespace memfence::certificate {

DualSearch::DualSearch(const DualAsked& asked)
    : rules_(asked), known_(static_cast<int>(rules_.fixed()), rules_.messages(), rules_.locals()) {
  rules_.bad([&](const Configuration& c) {
    add(c);
    return true;
  });
}

DualSearch::Result DualSearch::run(std::size_t steps) {
  while (!queue_.empty() && !reached_ && steps-- > 0) {
    const std::size_t number = queue_.top().second;
    queue_.pop();
    if (!all_[number].is_alive()) continue;
    const Configuration c = all_[number].c;
    std::set<int> below;
    rules_.before(c, [&](const Configuration& before) {
      below.insert(add(before));
      return !reached_;
    });
    all_[number].below.assign(below.begin(), below.end());
  }
  return reached_ ? Result::Reached : queue_.empty() ? Result::Done : Result::Goes_on;
}

int DualSearch::add(Configuration c) {
  if (const int known = known_.covering(c); known != Above::kNobody) return known;
  normalise(c);
  if (const int known = known_.covering(c); known != Above::kNobody) return known;
  reached_ |= rules_.is_initial(c);
  const std::vector<int> dropped = known_.drop_above(c);
  const int added = known_.add(c);
  for (const int number : dropped) all_[static_cast<std::size_t>(number)].instead = added;
  alive_ -= dropped.size();
  std::size_t messages = 0;
  for (const Part& part : c.parts) messages += part.fifo.size() + 1;
  queue_.emplace(messages, all_.size());
  all_.push_back({std::move(c)});
  ++alive_;
  return added;
}

void DualSearch::normalise(Configuration& c) {
  bool changes = true;
  while (changes) {
    changes = false;
    for (std::size_t p = 0; p < c.parts.size(); ++p) changes |= drop_known_message(c, p) || saturate(c, p);
    // One of any number that has not moved yet can always be added to a run.
    for (std::size_t p = c.parts.size(); p > rules_.fixed(); --p)
      if (rules_.is_starting(c.parts[p - 1])) c.parts.erase(c.parts.begin() + static_cast<std::ptrdiff_t>(p - 1));
  }
}

// The newest message says what memory holds: without it there is a configuration below, from which this one is reached.
bool DualSearch::drop_known_message(Configuration& c, std::size_t p) {
  Fifo& fifo = c.parts[p].fifo;
  if (fifo.empty() || rules_.messages()[fifo.back()].own) return false;
  for (const auto& [x, v] : rules_.messages()[fifo.back()].facts)
    if (c.memory[static_cast<std::size_t>(x)] != v) return false;
  fifo.pop_back();
  return true;
}

// Steps that change nothing but where their process is: it may as well have been where they start.
bool DualSearch::saturate(Configuration& c, std::size_t p) {
  LocalProcess& local = rules_.local(c.parts[p].kind);
  bool changes = false;
  for (bool grows = true; grows;) {
    grows = false;
    const int set = c.parts[p].set;
    ControlSets::Bits bits = local.sets.bits(set);
    for (const auto& [number, sources] : local.leading(set)) {
      const Action& action = local.action(number);
      if (!action.stores.empty() || local.sets.includes(set, sources)) continue;
      rules_.before_action(c, p, action, [&](const Configuration& before) {
        if (before.memory == c.memory && before.parts[p].fifo == c.parts[p].fifo)
          for (const int control : local.sets.members(before.parts[p].set)) ControlSets::insert(bits, control);
        return true;
      });
    }
    c.parts[p].set = local.sets.number(bits);
    grows = c.parts[p].set != set;
    changes |= grows;
  }
  return changes;
}

std::vector<DualSearch::Found> DualSearch::found() const {
  std::vector<int> places(all_.size(), Above::kNobody);
  int count = 0;
  for (std::size_t n = 0; n < all_.size(); ++n)
    if (all_[n].is_alive()) places[n] = count++;
  std::vector<Found> found;
  for (const Kept& one : all_) {
    if (!one.is_alive()) continue;
    std::set<int> below;
    for (int number : one.below) {
      while (!all_[static_cast<std::size_t>(number)].is_alive()) number = all_[static_cast<std::size_t>(number)].instead;
      below.insert(places[static_cast<std::size_t>(number)]);
    }
    found.push_back({&one.c, {below.begin(), below.end()}});
  }
  return found;
}

}  // namespace memfence::certificate
