// The arcs that one thread has found, those of a state one after the other. Eight bytes each: marks are kept once.
#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "search/outcome.hpp"

namespace memfence {

class ArcList {
 public:
  // Number of the next arc that is added.
  std::uint64_t end() const { return count_; }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // The number by which add() knows these marks.
  std::uint32_t code_of(std::uint64_t marks) {
    if (!marks_.empty() && marks_[latest_] == marks) return latest_;
    const auto [known, is_new] = codes_.emplace(marks, static_cast<std::uint32_t>(marks_.size()));
    if (is_new) marks_.push_back(marks);
    return latest_ = known->second;
  }
  void add(Index target, std::uint32_t code, bool is_last) {
    if (count_ % kBlock == 0) {
      blocks_.push_back(std::make_unique_for_overwrite<Arc[]>(kBlock));
      bytes_.fetch_add(kBlock * sizeof(Arc), std::memory_order_relaxed);
    }
    blocks_[count_ / kBlock][count_ % kBlock] = {target, code << 1 | std::uint32_t{is_last}};
    ++count_;
  }

  // Calls use(target, marks) for the arcs from number `first` to the last of its state.
  template <class Use>
  void for_each(std::uint64_t first, Use&& use) const {
    for (std::uint64_t at = first;; ++at) {
      const Arc arc = blocks_[at / kBlock][at % kBlock];
      use(arc.target, marks_[arc.code >> 1]);
      if (arc.code & 1) return;
    }
  }

 private:
  static constexpr std::uint64_t kBlock = 1 << 14;
  struct Arc {
    Index target;
    std::uint32_t code;  // and whether it is the last of its state
  };

  std::uint64_t count_ = 0;
  std::vector<std::unique_ptr<Arc[]>> blocks_;
  std::vector<std::uint64_t> marks_;  // by code
  std::unordered_map<std::uint64_t, std::uint32_t> codes_;
  std::uint32_t latest_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;  // others look at it
};

}  // namespace memfence
