#include "certificate/dual_order.hpp"

#include <algorithm>

namespace memfence::certificate {

namespace {

constexpr int kPlace = -1;

// Whether the words between the marks of one FIFO are subwords of those of the other, which has as many marks.
bool are_subwords(const Fifo& words, const Fifo& others) {
  std::size_t at = 0;
  for (const int message : words) {
    while (at < others.size() && others[at] != message && others[at] != kPlace) ++at;
    if (at == others.size() || others[at] != message) return false;
    ++at;
  }
  return true;
}

bool is_more_general(const Memory& known, const Memory& memory) {
  for (std::size_t x = 0; x < known.size(); ++x)
    if (known[x] && known[x] != memory[x]) return false;
  return true;
}

}  // namespace

int Messages::number(const Message& message) {
  const auto [place, is_new] = numbers_.emplace(message, static_cast<int>(messages_.size()));
  if (is_new) messages_.push_back(&place->first);
  return place->second;
}

std::optional<Number> Messages::own_value(const Fifo& fifo, int variable) const {
  for (auto message = fifo.rbegin(); message != fifo.rend(); ++message) {
    const Message& one = (*this)[*message];
    if (one.own && one.facts[0].first == variable) return one.facts[0].second;
  }
  return std::nullopt;
}

bool Messages::is_newest_own(const Fifo& fifo, std::size_t place) const {
  const Message& one = (*this)[fifo[place]];
  if (!one.own) return false;
  for (std::size_t n = place + 1; n < fifo.size(); ++n) {
    const Message& newer = (*this)[fifo[n]];
    if (newer.own && newer.facts[0].first == one.facts[0].first) return false;
  }
  return true;
}

Above::Entry Above::entry_of(const Configuration& c, int number) const {
  Entry entry{c.memory, {}, number};
  for (const Part& part : c.parts) {
    Shape shape{part.kind, part.set, {}, part.fifo};
    for (std::size_t n = 0; n < part.fifo.size(); ++n) {
      if (!messages_.is_newest_own(part.fifo, n)) continue;
      shape.owned.push_back(part.fifo[n]);
      shape.word[n] = kPlace;
    }
    entry.shapes.push_back(std::move(shape));
  }
  return entry;
}

// Only configurations in which the fixed processes have the same own messages are compared.
std::vector<int> Above::key_of(const Entry& entry) const {
  std::vector<int> key;
  for (std::size_t p = 0; p < fixed_; ++p) {
    key.insert(key.end(), entry.shapes[p].owned.begin(), entry.shapes[p].owned.end());
    key.push_back(kPlace);
  }
  return key;
}

void Above::add(const Configuration& c, int number) {
  Entry entry = entry_of(c, number);
  known_[key_of(entry)].push_back(std::move(entry));
}

bool Above::covers(const Configuration& c) {
  const Entry entry = entry_of(c, kPlace);
  const auto group = known_.find(key_of(entry));
  if (group == known_.end()) return false;
  return std::any_of(group->second.begin(), group->second.end(), [&](const Entry& known) { return is_below(known, entry); });
}

std::vector<int> Above::drop_above(const Configuration& c) {
  const Entry entry = entry_of(c, kPlace);
  std::vector<Entry>& group = known_[key_of(entry)];
  std::vector<int> dropped;
  std::erase_if(group, [&](const Entry& known) {
    const bool is_above = is_below(entry, known);
    if (is_above) dropped.push_back(known.number);
    return is_above;
  });
  return dropped;
}

bool Above::is_below(const Entry& known, const Entry& other) {
  if (known.shapes.size() > other.shapes.size() || !is_more_general(known.memory, other.memory)) return false;
  for (std::size_t p = 0; p < fixed_; ++p)
    if (!fits(known.shapes[p], other.shapes[p])) return false;
  std::vector<char> taken(other.shapes.size(), 0);
  return embeds(known, fixed_, other, taken);
}

// Whether each of the known ones, from the next one on, fits one of the others, no two the same.
bool Above::embeds(const Entry& known, std::size_t next, const Entry& other, std::vector<char>& taken) {
  if (next == known.shapes.size()) return true;
  for (std::size_t n = fixed_; n < other.shapes.size(); ++n) {
    if (taken[n] != 0 || !fits(known.shapes[next], other.shapes[n])) continue;
    taken[n] = 1;
    if (embeds(known, next + 1, other, taken)) return true;
    taken[n] = 0;
  }
  return false;
}

bool Above::fits(const Shape& known, const Shape& other) {
  return known.kind == other.kind && known.word.size() <= other.word.size() &&
         locals_.at(known.kind).sets.includes(known.set, other.set) && known.owned == other.owned &&
         are_subwords(known.word, other.word);
}

}  // namespace memfence::certificate
