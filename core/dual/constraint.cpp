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

void Constraint::add_part(int kind, Set set) {
  kinds.push_back(kind);
  sets.push_back(set);
  fifos.emplace_back();
}

void Constraint::drop_part(int part) {
  kinds.erase(kinds.begin() + part);
  sets.erase(sets.begin() + part);
  fifos.erase(fifos.begin() + part);
}

std::vector<std::int32_t> flatten(const Constraint& c) {
  std::vector<std::int32_t> flat{c.parts()};
  flat.insert(flat.end(), c.kinds.begin(), c.kinds.end());
  flat.insert(flat.end(), c.sets.begin(), c.sets.end());
  flat.insert(flat.end(), c.memory.begin(), c.memory.end());
  for (const Fifo& f : c.fifos) {
    flat.push_back(static_cast<std::int32_t>(f.size()));
    flat.insert(flat.end(), f.begin(), f.end());
  }
  flat.shrink_to_fit();
  return flat;
}

Constraint unflatten(std::span<const std::int32_t> flat, std::size_t shared) {
  Constraint c;
  const auto parts = static_cast<std::size_t>(flat[0]);
  flat = flat.subspan(1);
  const auto take = [&](std::vector<std::int32_t>& out, std::size_t count) {
    out.assign(flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(count));
    flat = flat.subspan(count);
  };
  take(c.kinds, parts);
  take(c.sets, parts);
  take(c.memory, shared);
  while (!flat.empty()) {
    const auto length = static_cast<std::size_t>(flat[0]);
    const auto fifo = flat.subspan(1, length);
    c.fifos.emplace_back(fifo.begin(), fifo.end());
    flat = flat.subspan(1 + length);
  }
  return c;
}

Constraint Frontier::constraint(int number) const {
  return unflatten(entries_[static_cast<std::size_t>(number)].flat, shared_);
}

Frontier::Signature Frontier::signature(const Constraint& c) const {
  std::uint64_t bits = 0, missing = 0;
  // Each process has its share of the 64 bits: its own 64, folded.
  const std::size_t share = std::max<std::size_t>(1, 64 / sets_.size());
  const std::uint64_t mask = share == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << share) - 1;
  for (std::size_t p = 0; p < c.sets.size(); ++p) {
    const auto kind = static_cast<std::size_t>(c.kinds[p]);
    if (p >= fixed_) bits |= bit_of(2000 + kind, static_cast<std::uint64_t>(sets_[kind].owned(c.sets[p])));
    for (const int message : c.fifos[p])
      if (message != own_message) bits |= bit_of(kind + 1, static_cast<std::uint64_t>(message));
    std::uint64_t mine = sets_[kind].missing(c.sets[p]), folded = ~std::uint64_t{0};
    for (std::size_t at = 0; at < 64; at += share) folded &= at + share <= 64 ? mine >> at : ~std::uint64_t{0};
    missing |= (folded & mask) << (kind * share % 64);
  }
  for (std::size_t v = 0; v < c.memory.size(); ++v)
    if (c.memory[v] != unknown_number) bits |= bit_of(1000 + v, static_cast<std::uint32_t>(c.memory[v]));
  return {bits, missing, 0};
}

std::vector<Frontier::Part>& Frontier::parts_of(Flat flat, std::vector<Part>& out) const {
  const auto count = static_cast<std::size_t>(flat[0]);
  out.clear();
  std::size_t at = 1 + 2 * count + shared_;
  for (std::size_t i = 0; i < count; ++i) {
    const auto length = static_cast<std::size_t>(flat[at]);
    out.push_back({flat[1 + i], flat[1 + count + i], flat.subspan(at + 1, length)});
    at += 1 + length;
  }
  return out;
}

// The cheap differences first: the sets are compared last.
bool Frontier::is_below(const Part& a, const Part& b) {
  if (a.kind != b.kind || a.fifo.size() > b.fifo.size()) return false;
  Sets& sets = sets_[static_cast<std::size_t>(a.kind)];
  return sets.owned(a.set) == sets.owned(b.set) && is_subword(a.fifo, b.fifo) && sets.includes(a.set, b.set);
}

bool Frontier::is_below(Flat left, Flat right) {
  if (left.size() > right.size() || left[0] > right[0]) return false;
  const std::size_t i = 1 + 2 * static_cast<std::size_t>(left[0]), j = 1 + 2 * static_cast<std::size_t>(right[0]);
  for (std::size_t v = 0; v < shared_; ++v)
    if (left[i + v] != unknown_number && left[i + v] != right[j + v]) return false;
  parts_of(left, left_);
  parts_of(right, right_);
  for (std::size_t p = 0; p < fixed_; ++p)
    if (!is_below(left_[p], right_[p])) return false;
  taken_.assign(right_.size(), false);
  return have_partners(fixed_);
}

bool Frontier::have_partners(std::size_t from) {
  if (from == left_.size()) return true;
  for (std::size_t p = fixed_; p < right_.size(); ++p) {
    if (taken_[p] || !is_below(left_[from], right_[p])) continue;
    taken_[p] = true;
    if (have_partners(from + 1)) return true;
    taken_[p] = false;
  }
  return false;
}

int Frontier::add(const Constraint& c, int parent) {
  std::vector<int> key;
  for (std::size_t p = 0; p < fixed_; ++p) key.push_back(sets_[p].owned(c.sets[p]));
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
