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

#include <optional>
#include <span>
#include <vector>

#include "execution/clocks.hpp"
#include "execution/memory_event.hpp"

namespace memfence {

// A load that could have missed `missed`, and therefore have seen `missed.before`, on hardware with store buffers only.
struct Borderline {
  std::size_t event = 0;  // which event of the step
  PastWrite missed;
};

class Monitor {
 public:
  using Count = Clocks::Count;

  // `undoable`: steps can be taken back, and nothing is ever forgotten. `timestamps`: histories keep the clocks of writes.
  // `count_loads`: the 2N components of the paper.
  explicit Monitor(bool undoable = false, bool timestamps = false, bool count_loads = false)
      : undoable_(undoable), timestamps_(timestamps), count_loads_(count_loads), clocks_(count_loads) {}

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
    const Count *lc = clocks_.of_thread(thread, kLoads), *hb = clocks_.of_thread(thread, kHappens);
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
  using enum Clocks::ThreadClock;
  using enum Clocks::AddressClock;
  static constexpr std::uint32_t kNobody = 0xffffffffu;

  struct Address {
    std::uint32_t storer = kNobody;  // whose plain store the newest write is
    bool has_value = false, pruned = false;
    std::int64_t value = 0;
  };

  std::size_t width() const { return clocks_.width(); }
  Count* clock(std::uint32_t thread, Clocks::ThreadClock which) { return clocks_.of_thread(thread, which); }
  Count* clock(std::uint32_t address, Clocks::AddressClock which) { return clocks_.of_address(address, which); }
  void merge(Count* into, const Count* from) const { clocks_.merge(into, from); }
  void copy(Count* into, const Count* from) const { clocks_.copy(into, from); }

  void before(std::span<const MemoryEvent> step);
  bool must_see(const PastWrite& w, std::uint32_t thread) const { return w.thread == thread || w.count <= together_[w.group]; }
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
  void widen(std::size_t groups);
  void forget();

  bool undoable_, timestamps_, count_loads_;
  Clocks clocks_;
  std::uint32_t thread_count_ = 0;
  std::vector<Count> written_;  // writes so far, a group
  std::vector<Address> addresses_;
  std::vector<std::vector<PastWrite>> history_;
  std::vector<std::vector<Count>> stamps_;  // a history entry: relaxed, then happens-before
  std::vector<Count> together_, happens_, last_relaxed_, last_happens_;
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

}  // namespace memfence

#include "execution/monitor_single.hpp"
