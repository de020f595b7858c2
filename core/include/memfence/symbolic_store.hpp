// The symbolic states seen so far, grouped by control part: inclusion is asked only inside a group.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>

#include "memfence/languages.hpp"
#include "memfence/state_set.hpp"

namespace memfence {

using SymbolicRow = std::vector<Value>;  // the control part, then one language a process

class SymbolicStore {
 public:
  SymbolicStore(std::size_t control, Languages& languages) : control_(control), languages_(languages) {}

  int group_of(const SymbolicRow& row) {
    const auto [place, is_new] = groups_.emplace(SymbolicRow(row.begin(), split(row)), static_cast<int>(members_.size()));
    if (is_new) members_.emplace_back();
    return place->second;
  }
  std::size_t groups() const { return members_.size(); }
  template <class Visit>
  void for_each_control(Visit&& visit) const {
    for (const auto& entry : groups_) visit(entry.first);
  }

  bool is_empty(int group) const { return members_[static_cast<std::size_t>(group)].empty(); }
  // Whether one state of the group includes `row`.
  bool covers(int group, const SymbolicRow& row) {
    const std::span<const Value> mine(split(row), row.end());
    for (const Member& member : members_[static_cast<std::size_t>(group)])
      if (includes(member.languages, mine)) return true;
    return false;
  }
  // Keep `row`, state number `state`, and of the others in its group only those that it does not include.
  void insert(int group, const SymbolicRow& row, int state) {
    auto& members = members_[static_cast<std::size_t>(group)];
    const std::span<const Value> mine(split(row), row.end());
    stored_ += 1 - std::erase_if(members, [&](const Member& member) {
      if (!includes(mine, member.languages)) return false;
      live_[static_cast<std::size_t>(member.state)] = 0;
      return true;
    });
    members.push_back({SymbolicRow(mine.begin(), mine.end()), state});
    live_.resize(std::max(live_.size(), static_cast<std::size_t>(state) + 1), 1);
  }
  // Whether no state that came later includes this one.
  bool is_live(int state) const { return live_[static_cast<std::size_t>(state)] != 0; }
  bool includes(std::span<const Value> larger, std::span<const Value> smaller) {
    for (std::size_t p = 0; p < larger.size(); ++p)
      if (!languages_.includes(larger[p], smaller[p])) return false;
    return true;
  }
  std::uint64_t stored() const { return stored_; }
  std::uint64_t bytes() const { return groups() * (control_ * sizeof(Value) + 160) + stored_ * 64; }

 private:
  SymbolicRow::const_iterator split(const SymbolicRow& row) const { return row.begin() + static_cast<std::ptrdiff_t>(control_); }
  struct Hash {
    std::size_t operator()(const SymbolicRow& row) const {
      std::uint64_t h = 0x9e3779b97f4a7c15ULL;
      for (const Value v : row) h = (h ^ static_cast<std::uint32_t>(v)) * 0xff51afd7ed558ccdULL, h ^= h >> 32;
      return static_cast<std::size_t>(h);
    }
  };
  std::size_t control_;
  Languages& languages_;
  std::unordered_map<SymbolicRow, int, Hash> groups_;
  struct Member {
    SymbolicRow languages;
    int state;
  };
  std::vector<std::vector<Member>> members_;
  std::vector<std::uint8_t> live_;
  std::uint64_t stored_ = 0;
};

}  // namespace memfence
