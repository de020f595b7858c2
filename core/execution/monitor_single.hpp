// The monitor's way for steps of one event, which is most of them.
//
// Explorers add and take back an event every few dozen nanoseconds, almost always for two to four threads: with the width
// known to the compiler a clock is a register or two, and only the clocks that the event changes are saved. W = 0: any.
#pragma once

#include "execution/monitor.hpp"

namespace memfence {

template <std::size_t W>
[[gnu::always_inline]] inline void Monitor::add_single_wide(MemoryOp op, std::uint32_t thread, std::uint32_t address,
                                                            std::int64_t value) {
  const std::size_t w = W ? W : width();
  const auto join = [w](Count* into, const Count* from) {
    for (std::size_t i = 0; i < w; ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
  };
  const auto set = [w](Count* into, const Count* from) {
    for (std::size_t i = 0; i < w; ++i) into[i] = from[i];
  };
  if (singles_top_ + 7 * w + 4 > singles_.size()) singles_.resize(2 * (singles_top_ + 7 * w + 4));
  Count* saved = &singles_[singles_top_];
  const auto save = [&](const Count* from) {
    set(saved, from);
    saved += w;
  };
  Count* const lc = clocks_.of_thread<W>(thread);
  Count *const sc = lc + Clocks::kStores * w, *const hb = lc + Clocks::kHappens * w;
  save(lc);
  if (op == MemoryOp::Fence) {
    save(sc);
    join(lc, sc);
    set(sc, lc);
    singles_top_ += 2 * w;
    return;
  }
  Count* const newest = clocks_.of_address<W>(address);
  Count* const all = newest + Clocks::kAll * w;
  Count *const hw = newest + Clocks::kHappensWrite * w, *const ha = newest + Clocks::kHappensAll * w;
  Address& state = addresses_[address];
  save(hb);
  save(all);
  save(ha);
  if (op == MemoryOp::Load) {
    if (state.storer != thread) join(lc, newest);
    join(all, lc);
    join(hb, hw);
    join(ha, hb);
    singles_top_ += 4 * w;
    return;
  }
  save(sc);
  save(newest);
  save(hw);
  saved[0] = state.storer;
  singles_top_ += 7 * w + 1;
  join(all, sc);
  join(all, lc);
  const Count count = ++written_[thread];
  all[thread] = count;
  set(newest, all);
  set(sc, all);
  if (op == MemoryOp::Interlocked) set(lc, all);
  join(ha, hb);
  ha[thread] = count;
  set(hw, ha);
  set(hb, ha);
  PastWrite& write = history_[address].emplace_back();
  write.thread = write.group = thread;
  write.count = count;
  write.buffered = op == MemoryOp::Store;
  write.has_value = write.has_before = true;
  write.value = value;
  write.before = state.value;
  ++kept_;
  state.storer = write.buffered ? thread : kNobody;
  state.value = value;
  if (!timestamps_) return;
  stamps_[address].insert(stamps_[address].end(), all, all + w);
  stamps_[address].insert(stamps_[address].end(), ha, ha + w);
}

template <std::size_t W>
[[gnu::always_inline]] inline void Monitor::undo_single_wide(MemoryOp op, std::uint32_t thread, std::uint32_t address) {
  const std::size_t w = W ? W : width();
  const bool writes = op == MemoryOp::Store || op == MemoryOp::Interlocked;
  singles_top_ -= op == MemoryOp::Fence ? 2 * w : writes ? 7 * w + 1 : 4 * w;
  const Count* saved = &singles_[singles_top_];
  const auto restore = [&](Count* into) {
    for (std::size_t i = 0; i < w; ++i) into[i] = saved[i];
    saved += w;
  };
  Count* const lc = clocks_.of_thread<W>(thread);
  Count* const newest = clocks_.of_address<W>(address);
  restore(lc);
  if (op == MemoryOp::Fence) return restore(lc + Clocks::kStores * w);
  restore(lc + Clocks::kHappens * w);
  restore(newest + Clocks::kAll * w);
  restore(newest + Clocks::kHappensAll * w);
  if (!writes) return;
  restore(lc + Clocks::kStores * w);
  restore(newest);
  restore(newest + Clocks::kHappensWrite * w);
  Address& state = addresses_[address];
  state.storer = saved[0];
  state.value = history_[address].back().before;
  history_[address].pop_back();
  --written_[thread];
  --kept_;
  if (timestamps_) stamps_[address].resize(stamps_[address].size() - 2 * w);
}

inline void Monitor::add_single(MemoryOp op, std::uint32_t thread, std::uint32_t address, std::int64_t value) {
  switch (width()) {
    case 2: return add_single_wide<2>(op, thread, address, value);
    case 3: return add_single_wide<3>(op, thread, address, value);
    case 4: return add_single_wide<4>(op, thread, address, value);
    default: return add_single_wide<0>(op, thread, address, value);
  }
}

inline void Monitor::undo_single(MemoryOp op, std::uint32_t thread, std::uint32_t address) {
  switch (width()) {
    case 2: return undo_single_wide<2>(op, thread, address);
    case 3: return undo_single_wide<3>(op, thread, address);
    case 4: return undo_single_wide<4>(op, thread, address);
    default: return undo_single_wide<0>(op, thread, address);
  }
}

}  // namespace memfence
