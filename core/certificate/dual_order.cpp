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

Above::Entry Above::entry_of(const Configuration& c) const {
  Entry entry{c.memory, {}};
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

std::uint64_t Above::signature(const Entry& entry) {
  std::uint64_t bits = 0;
  const auto note = [&](std::uint64_t kind, std::uint64_t fact) {
    bits |= std::uint64_t{1} << ((kind * 0x9e3779b97f4a7c15U + fact * 0xff51afd7ed558ccdU) >> 58U);
  };
  for (std::size_t x = 0; x < entry.memory.size(); ++x)
    if (entry.memory[x]) note(x, static_cast<std::uint64_t>(*entry.memory[x]));
  for (const Shape& shape : entry.shapes)
    for (const Fifo* fifo : {&shape.owned, &shape.word})
      for (const int message : *fifo) note(~static_cast<std::uint64_t>(shape.kind), static_cast<std::uint64_t>(message));
  return bits;
}

int Above::add(const Configuration& c) {
  const auto number = static_cast<int>(entries_.size());
  entries_.push_back(entry_of(c));
  Group& group = known_[key_of(entries_.back())];
  group.signatures.push_back(signature(entries_.back()));
  group.numbers.push_back(number);
  return number;
}

int Above::covering(const Configuration& c, const std::vector<int>& likely) {
  const Entry one = entry_of(c);
  const std::vector<int> key = key_of(one);
  for (const int number : likely)
    if (key_of(entry(number)) == key && is_below(entry(number), one)) return number;
  const auto found = known_.find(key);
  if (found == known_.end()) return kNobody;
  const Group& group = found->second;
  const std::uint64_t bits = signature(one);
  for (std::size_t n = 0; n < group.numbers.size(); ++n)
    if ((group.signatures[n] & ~bits) == 0 && is_below(entry(group.numbers[n]), one)) return group.numbers[n];
  return kNobody;
}

std::vector<int> Above::drop_above(const Configuration& c) {
  const Entry one = entry_of(c);
  Group& group = known_[key_of(one)];
  const std::uint64_t bits = signature(one);
  std::vector<int> dropped;
  for (std::size_t n = 0; n < group.numbers.size();) {
    if ((bits & ~group.signatures[n]) != 0 || !is_below(one, entry(group.numbers[n]))) {
      ++n;
      continue;
    }
    dropped.push_back(group.numbers[n]);
    entries_[static_cast<std::size_t>(group.numbers[n])] = {};
    group.signatures[n] = group.signatures.back();
    group.signatures.pop_back();
    group.numbers[n] = group.numbers.back();
    group.numbers.pop_back();
  }
  return dropped;
}

bool Above::is_below(const Entry& known, const Entry& other) {
  if (known.shapes.size() > other.shapes.size() || !is_more_general(known.memory, other.memory)) return false;
  for (std::size_t p = 0; p < fixed_; ++p)
    if (!fits(known.shapes[p], other.shapes[p])) return false;
  std::vector<int> taken(other.shapes.size(), kNobody);
  std::vector<char> tried;
  for (std::size_t one = fixed_; one < known.shapes.size(); ++one) {
    tried.assign(other.shapes.size(), 0);
    if (!has_place(known, one, other, taken, tried)) return false;
  }
  return true;
}

// Whether a known one fits one of the others that is free, or whose holder has another place; no two fit the same.
bool Above::has_place(const Entry& known, std::size_t one, const Entry& other, std::vector<int>& taken,
                      std::vector<char>& tried) {
  for (std::size_t n = fixed_; n < other.shapes.size(); ++n) {
    if (tried[n] != 0 || !fits(known.shapes[one], other.shapes[n])) continue;
    tried[n] = 1;
    if (taken[n] != kNobody && !has_place(known, static_cast<std::size_t>(taken[n]), other, taken, tried)) continue;
    taken[n] = static_cast<int>(one);
    return true;
  }
  return false;
}

bool Above::fits(const Shape& known, const Shape& other) {
  return known.kind == other.kind && known.word.size() <= other.word.size() &&
         locals_.at(known.kind).sets.includes(known.set, other.set) && known.owned == other.owned &&
         are_subwords(known.word, other.word);
}

}  // namespace memfence::certificate
