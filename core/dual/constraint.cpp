#include "dual/constraint.hpp"

#include <algorithm>

namespace memfence::dual {

namespace {

std::uint64_t bit_of(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = (a * 0x9e3779b97f4a7c15u) ^ (b + 0x7f4a7c15u);
  h *= 0xff51afd7ed558ccdu;
  return std::uint64_t{1} << (h >> 58);
}

// Whether each word of `a` is a subword of the word of `b` between the same owned messages: matching as early as
// possible never misses a match.
bool is_subword(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  std::size_t j = 0;
  for (const std::int32_t wanted : a) {
    if (wanted == own_message) {
      while (b[j] != own_message) ++j;
    } else {
      while (j < b.size() && b[j] != wanted) {
        if (b[j] == own_message) return false;
        ++j;
      }
      if (j == b.size()) return false;
    }
    ++j;
  }
  return true;
}

}  // namespace

std::size_t Constraint::messages() const {
  std::size_t count = 0;
  for (const Fifo& f : fifos) count += f.size();
  return count;
}

std::vector<std::int32_t> flatten(const Constraint& c) {
  std::vector<std::int32_t> flat(c.sets);
  flat.insert(flat.end(), c.memory.begin(), c.memory.end());
  for (const Fifo& f : c.fifos) {
    flat.push_back(static_cast<std::int32_t>(f.size()));
    flat.insert(flat.end(), f.begin(), f.end());
  }
  flat.shrink_to_fit();
  return flat;
}

Constraint unflatten(std::span<const std::int32_t> flat, std::size_t processes, std::size_t shared) {
  Constraint c;
  c.sets.assign(flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(processes));
  flat = flat.subspan(processes);
  c.memory.assign(flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(shared));
  flat = flat.subspan(shared);
  while (!flat.empty()) {
    const auto length = static_cast<std::size_t>(flat[0]);
    const auto fifo = flat.subspan(1, length);
    c.fifos.emplace_back(fifo.begin(), fifo.end());
    flat = flat.subspan(1 + length);
  }
  return c;
}

Constraint Frontier::constraint(int number) const {
  return unflatten(entries_[static_cast<std::size_t>(number)].flat, sets_.size(), shared_);
}

Frontier::Signature Frontier::signature(const Constraint& c) const {
  std::uint64_t bits = 0, missing = 0;
  for (std::size_t p = 0; p < c.fifos.size(); ++p)
    for (const int message : c.fifos[p])
      if (message != own_message) bits |= bit_of(p + 1, static_cast<std::uint64_t>(message));
  for (std::size_t v = 0; v < c.memory.size(); ++v)
    if (c.memory[v] != unknown_value) bits |= bit_of(1000 + v, static_cast<std::uint32_t>(c.memory[v]));
  // Each process has its share of the 64 bits: its own 64, folded.
  const std::size_t share = std::max<std::size_t>(1, 64 / c.sets.size());
  for (std::size_t p = 0; p < c.sets.size(); ++p) {
    std::uint64_t mine = sets_[p].missing(c.sets[p]), folded = ~std::uint64_t{0};
    for (std::size_t at = 0; at < 64; at += share) folded &= at + share <= 64 ? mine >> at : ~std::uint64_t{0};
    const std::uint64_t mask = share == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << share) - 1;
    missing |= (folded & mask) << (p * share % 64);
  }
  return {bits, missing, 0};
}

// The cheap differences first: the sets are compared last.
bool Frontier::is_below(std::span<const std::int32_t> left, std::span<const std::int32_t> right) {
  if (left.size() > right.size()) return false;
  std::size_t i = sets_.size(), j = i;
  for (std::size_t v = 0; v < shared_; ++v, ++i, ++j)
    if (left[i] != unknown_value && left[i] != right[j]) return false;
  for (std::size_t p = 0; p < sets_.size(); ++p) {
    const auto m = static_cast<std::size_t>(left[i]), n = static_cast<std::size_t>(right[j]);
    if (m > n || !is_subword(left.subspan(i + 1, m), right.subspan(j + 1, n))) return false;
    i += 1 + m;
    j += 1 + n;
  }
  for (std::size_t p = 0; p < sets_.size(); ++p)
    if (!sets_[p].includes(left[p], right[p])) return false;
  return true;
}

int Frontier::add(const Constraint& c, int parent) {
  std::vector<Value> key;
  for (std::size_t p = 0; p < sets_.size(); ++p) key.push_back(sets_[p].owned(c.sets[p]));
  Entry made{flatten(c), parent, true};
  Signature mine = signature(c);
  mine.number = static_cast<int>(entries_.size());
  std::vector<Signature>& group = groups_[key];
  const auto flat = [&](const Signature& s) -> Entry& { return entries_[static_cast<std::size_t>(s.number)]; };
  for (const Signature& other : group)
    if (other.may_be_below(mine) && is_below(flat(other).flat, made.flat)) return -1;
  std::erase_if(group, [&](const Signature& other) {
    if (!mine.may_be_below(other) || !is_below(made.flat, flat(other).flat)) return false;
    flat(other).alive = false;
    --alive_;
    return true;
  });
  const int number = mine.number;
  bytes_ += made.flat.size() * sizeof(std::int32_t) + sizeof(Entry) + sizeof(Signature) + 24;
  group.push_back(mine);
  entries_.push_back(std::move(made));
  ++alive_;
  return number;
}

}  // namespace memfence::dual
