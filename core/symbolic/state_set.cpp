#include "symbolic/state_set.hpp"

#include <algorithm>

namespace memfence {

namespace {

std::uint32_t hash_of(const Value* row, std::size_t count) {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL;
  for (std::size_t i = 0; i < count; ++i) {
    h = (h ^ static_cast<std::uint64_t>(row[i])) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  }
  return static_cast<std::uint32_t>(h);
}

}  // namespace

bool SymbolicStateSet::has_control(int group, const Value* wanted) const {
  const Group& g = heads_[static_cast<std::size_t>(group)];
  return std::equal(wanted, wanted + control_, g.first >= 0 ? row(g.first) : pending_.data());
}

int SymbolicStateSet::group_of(const Value* wanted) {
  if (heads_.size() * 2 >= table_.size()) grow_table();
  const std::uint32_t hash = hash_of(wanted, control_);
  std::size_t at = hash & (table_.size() - 1);
  for (; table_[at] >= 0; at = (at + 1) & (table_.size() - 1))
    if (heads_[static_cast<std::size_t>(table_[at])].hash == hash && has_control(table_[at], wanted)) return table_[at];
  table_[at] = static_cast<int>(heads_.size());
  heads_.push_back({-1, -1, hash});
  pending_.assign(wanted, wanted + control_);
  return table_[at];
}

void SymbolicStateSet::grow_table() {
  std::vector<int> larger(table_.size() * 2, -1);
  for (std::size_t g = 0; g < heads_.size(); ++g) {
    std::size_t at = heads_[g].hash & (larger.size() - 1);
    while (larger[at] >= 0) at = (at + 1) & (larger.size() - 1);
    larger[at] = static_cast<int>(g);
  }
  table_ = std::move(larger);
}

int SymbolicStateSet::insert(int group, const Value* added, std::span<const Event> events, int from, int mover) {
  const int number = states();
  if (static_cast<std::size_t>(number) % kChunk == 0) chunks_.push_back(std::make_unique<Value[]>(kChunk * width_));
  std::copy(added, added + width_, chunks_.back().get() + static_cast<std::size_t>(number) % kChunk * width_);
  Group& head = heads_[static_cast<std::size_t>(group)];
  for (int* link = &head.newest; *link >= 0;) {
    Node& other = node(*link);
    if (includes(added, row(*link))) {
      other.live = false;
      *link = other.next;
      --stored_;
    } else {
      link = &other.next;
    }
  }
  nodes_.push_back({group, head.newest, from, from < 0 ? 1 : depth(from) + 1, events_.size(),
                    static_cast<std::uint32_t>(events.size()), static_cast<std::int16_t>(mover), true});
  events_.insert(events_.end(), events.begin(), events.end());
  head.newest = number;
  if (head.first < 0) head.first = number;
  ++stored_;
  return number;
}

}  // namespace memfence
