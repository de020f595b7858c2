// Store-buffer safety of one SC execution, watched step by step: the monitor of Sober (Burckhardt, Musuvathi 2008).
//
// Fig. 2 walks back through all writes of the loaded address. It need not: every write to an address is (relaxed)
// happens-before the next one, so the writes that happen-before the loading thread's last event are the first so many of
// the address's history, and those that relaxed-happen-before its last read are the first so many, too. A load could have
// seen a stale value iff the newest write of the first kind is neither one of the second kind nor the thread's own.
//
// The clocks are those of Fig. 3, but for one correction and one saving. Only writes are counted (N components): whether a
// *write* comes before an event is all that Fig. 2 asks; counting loads as well (2N) is for tests. And a load that sees its
// own thread's store comes after no other thread's write: it may have read the store buffer long before that store took
// its place in memory. The paper orders it after all writes before that place (c(e) <= c(e'), Fig. 3's mc1), and so calls
// `x:=1; a:=x; b:=y || y:=1; x:=2` safe, which has the execution a=1, b=0 with x=1 in the end. With the correction, mc1[q][a]
// is either the newest write to `a` or nothing, and an event costs O(N), not O(N^2).
//
// Steps. A program step may touch several addresses at once. Its loads happen together; its plain stores leave the buffer
// one by one, later; interlocked writes happen with the loads. Under SC all of it is one node of happens-before. A step
// with one event is the event of the paper.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace memfence {

enum class MemoryOp : std::uint8_t {
  Load,
  Store,        // into the store buffer
  Interlocked,  // reads and writes memory, buffer empty
  Fence,        // buffer empty
  Direct,       // a write that reaches memory at once, past whatever is in the buffer
  Sync,         // takes part in the step, touches nothing
  Wait,         // a load that is blocked for ever: it only asks whether a stale value would have let it go on
};

struct MemoryEvent {
  MemoryOp op = MemoryOp::Load;
  bool has_value = false;
  bool has_accepts = false;
  std::uint32_t thread = 0;
  std::uint32_t group = 0;  // that its writes are counted in: the thread, or (Direct) one more a thread
  std::uint32_t address = 0;
  std::uint32_t location = 0;  // place in the source, as the caller numbers them
  std::int64_t value = 0;
  std::uint64_t position = 0;                // line of the trace, or number of the event
  std::vector<std::int64_t> accepts;  // where given: a load with another value would not have gone on

  bool writes() const { return op == MemoryOp::Store || op == MemoryOp::Interlocked || op == MemoryOp::Direct; }
};

// A write in the history of its address. `before`: what the address held until then.
struct PastWrite {
  std::uint32_t thread = 0, group = 0, count = 0;  // the count-th write of its group
  std::uint32_t location = 0;
  bool has_value = false, has_before = false;
  bool buffered = false;  // a plain store
  std::int64_t value = 0, before = 0;
  std::uint64_t position = 0;
};

// A load that could have missed `missed`, and therefore have seen `missed.before`, on hardware with store buffers only.
struct Borderline {
  std::size_t event = 0;  // which event of the step
  PastWrite missed;
};

class Monitor {
 public:
  using Count = std::uint32_t;

  // `undoable`: steps can be taken back, and nothing is ever forgotten. `timestamps`: histories keep the clocks of writes.
  // `count_loads`: the 2N components of the paper.
  explicit Monitor(bool undoable = false, bool timestamps = false, bool count_loads = false)
      : undoable_(undoable), timestamps_(timestamps), count_loads_(count_loads) {}

  void ensure_threads(std::uint32_t count);
  void ensure_addresses(std::uint32_t count);
  void set_initial(std::uint32_t address, std::int64_t value);

  // Check the loads of one step against everything before it.
  std::optional<Borderline> check(std::span<const MemoryEvent> step);
  // Put the step into the clocks and histories.
  void add(std::span<const MemoryEvent> step);
  // The same for a step of one event (no Direct, Sync, Wait), without the detours that steps of several need.
  void add_single(MemoryOp op, std::uint32_t thread, std::uint32_t address, std::int64_t value);
  void undo_single(MemoryOp op, std::uint32_t thread, std::uint32_t address);
  // Take back the last step added; one that was added as single has to be taken back so.
  void undo();

  // Whether a load of `address` by `thread` as its next event might miss a write: the quick question of an explorer.
  bool could_miss(std::uint32_t thread, std::uint32_t address) const {
    const std::vector<PastWrite>& history = history_[address];
    if (history.empty()) return false;
    const Count *lc = clock(thread, kLoads), *hb = clock(thread, kHappens);
    for (std::size_t i = history.size(); i-- > 0;) {
      const PastWrite& w = history[i];
      if (w.count > hb[w.group]) continue;
      return w.thread != thread && w.count > lc[w.group];
    }
    return false;
  }

  // What an explorer needs to try stale values itself. A load that has seen `n` writes misses history[n] and the rest.
  const std::vector<PastWrite>& history(std::uint32_t address) const { return history_[address]; }
  bool is_pruned(std::uint32_t address) const { return addresses_[address].pruned; }
  // The fewest writes that the load `event` of the step must have seen under TSO.
  std::size_t least_seen(std::span<const MemoryEvent> step, std::size_t event);
  // Whether the step, its load `i` having seen `seen[i]` writes, is possible under TSO but not under SC. Every load that
  // reads memory has to be judged together with the others: needs timestamps if there are several.
  bool is_borderline(std::span<const MemoryEvent> step, std::span<const std::size_t> seen);
  // Whether the load reads what its own step has stored.
  static bool is_own(std::span<const MemoryEvent> step, std::size_t event);

  // For tests: the timestamp of the last event added (one component a group; loads behind, if counted).
  std::vector<Count> last_relaxed() const { return {last_relaxed_.begin(), last_relaxed_.end()}; }
  std::vector<Count> last_happens() const { return {last_happens_.begin(), last_happens_.end()}; }
  std::size_t bytes() const;
  std::uint64_t kept_writes() const { return kept_; }

 private:
  // Clocks of a thread: of its last read, of its last write, of its last event. Of an address: its newest write, all
  // accesses; and both again, for ordinary happens-before.
  enum ThreadClock { kLoads, kStores, kHappens, kThreadClocks };
  enum AddressClock { kNewest, kAll, kHappensWrite, kHappensAll, kAddressClocks };
  static constexpr std::uint32_t kNobody = 0xffffffffu;

  struct Address {
    std::uint32_t storer = kNobody;  // whose plain store the newest write is
    bool has_value = false, pruned = false;
    std::int64_t value = 0;
  };

  std::size_t width() const { return stride_ * (count_loads_ ? 2 : 1); }
  Count* clock(std::uint32_t thread, ThreadClock which) {
    return &threads_[(static_cast<std::size_t>(thread) * kThreadClocks + which) * width()];
  }
  const Count* clock(std::uint32_t thread, ThreadClock which) const {
    return &threads_[(static_cast<std::size_t>(thread) * kThreadClocks + which) * width()];
  }
  Count* clock(std::uint32_t address, AddressClock which) {
    return &address_clocks_[(static_cast<std::size_t>(address) * kAddressClocks + which) * width()];
  }
  const Count* clock(std::uint32_t address, AddressClock which) const {
    return &address_clocks_[(static_cast<std::size_t>(address) * kAddressClocks + which) * width()];
  }
  void merge(Count* into, const Count* from) const {
    for (std::size_t i = 0, n = width(); i < n; ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
  }
  void copy(Count* into, const Count* from) const {
    for (std::size_t i = 0, n = width(); i < n; ++i) into[i] = from[i];
  }

  void before(std::span<const MemoryEvent> step);
  bool must_see(const PastWrite& w, std::uint32_t thread) const {
    return w.thread == thread || w.count <= together_[w.group];
  }
  std::optional<PastWrite> missed(const MemoryEvent& load) const;
  void add_together(std::span<const MemoryEvent> step);
  void add_store(const MemoryEvent& store);
  void publish(std::span<const MemoryEvent> step);
  void remember(const MemoryEvent& write, const Count* relaxed);
  void save(std::span<const MemoryEvent> step);
  template <std::size_t W>
  void add_single_wide(MemoryOp op, std::uint32_t thread, std::uint32_t address, std::int64_t value);
  template <std::size_t W>
  void undo_single_wide(MemoryOp op, std::uint32_t thread, std::uint32_t address);
  void relayout(std::size_t stride);
  void forget();

  bool undoable_, timestamps_, count_loads_;
  std::size_t stride_ = 0;
  std::uint32_t thread_count_ = 0;
  std::vector<Count> threads_, address_clocks_;
  std::vector<Count> written_;  // writes so far, a group
  std::vector<Address> addresses_;
  std::vector<std::vector<PastWrite>> history_;
  std::vector<std::vector<Count>> stamps_;  // a history entry: relaxed, then happens-before
  std::vector<Count> together_, happens_, scratch_, last_relaxed_, last_happens_;
  std::uint64_t kept_ = 0, prune_at_ = 1u << 16;
  bool may_prune_ = true;

  // What undoing needs. A step of one event has its words in `singles_`, and nothing else: the caller knows the event.
  struct SavedStep {
    std::size_t words;
    std::uint32_t threads, addresses, writes;
  };
  std::vector<SavedStep> saved_steps_;
  std::vector<Count> singles_;
  std::size_t singles_top_ = 0;
  std::vector<Count> saved_words_;
  std::vector<std::uint32_t> saved_threads_, saved_addresses_, saved_writes_;
  std::vector<Address> saved_states_;
};

// Explorers add and take back an event every few dozen nanoseconds, almost always for two to four threads: with the width
// known to the compiler a clock is a register or two, and only the clocks that the event changes are saved. W = 0: any.
template <std::size_t W>
[[gnu::always_inline]] inline void Monitor::add_single_wide(MemoryOp op, std::uint32_t thread, std::uint32_t address, std::int64_t value) {
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
  Count* const lc = &threads_[thread * kThreadClocks * w];
  Count *const sc = lc + w, *const hb = lc + 2 * w;
  save(lc);
  if (op == MemoryOp::Fence) {
    save(sc);
    join(lc, sc);
    set(sc, lc);
    singles_top_ += 2 * w;
    return;
  }
  Count* const newest = &address_clocks_[address * kAddressClocks * w];
  Count *const all = newest + w, *const hw = newest + 2 * w, *const ha = newest + 3 * w;
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
  Count* const lc = &threads_[thread * kThreadClocks * w];
  Count* const newest = &address_clocks_[address * kAddressClocks * w];
  restore(lc);
  if (op == MemoryOp::Fence) return restore(lc + w);
  restore(lc + 2 * w);
  restore(newest + w);
  restore(newest + 3 * w);
  if (!writes) return;
  restore(lc + w);
  restore(newest);
  restore(newest + 2 * w);
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
