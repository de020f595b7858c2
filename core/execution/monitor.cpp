#include "execution/monitor.hpp"

#include <algorithm>

namespace memfence {

void Monitor::ensure_threads(std::uint32_t count) {
  if (count <= thread_count_) return;
  if (count > clocks_.groups()) widen(undoable_ ? count : std::max<std::size_t>(count, clocks_.groups() * 2));
  clocks_.resize_threads(count);
  thread_count_ = count;
}

void Monitor::ensure_addresses(std::uint32_t count) {
  if (count <= addresses_.size()) return;
  addresses_.resize(count);
  history_.resize(count);
  stamps_.resize(count);
  clocks_.resize_addresses(count);
}

void Monitor::set_initial(std::uint32_t address, std::int64_t value) {
  Address& a = addresses_[address];
  a.has_value = true;
  a.value = value;
}

void Monitor::widen(std::size_t groups) {
  const std::size_t before = clocks_.groups();
  for (auto& stamps : stamps_) Clocks::widen(stamps, before, groups);
  Clocks::widen(written_, before, groups);
  written_.resize(2 * groups, 0);
  clocks_.widen(groups);
  clocks_.resize_addresses(addresses_.size());
  for (auto* scratch : {&together_, &happens_, &last_relaxed_, &last_happens_}) scratch->assign(width(), 0);
}

bool Monitor::is_own(std::span<const MemoryEvent> step, std::size_t event) {
  for (std::size_t i = 0; i < event; ++i)
    if (step[i].writes() && step[i].thread == step[event].thread && step[i].address == step[event].address) return true;
  return false;
}

// What the loads of the step are judged by. `together_`: what the step comes after under TSO, but for the writes that the
// loads see; an interlocked or direct write happens at the same moment, behind all writes to its address. `happens_`: what
// it comes after under SC, where the step is one node: the places that all its writes take count.
void Monitor::before(std::span<const MemoryEvent> step) {
  std::fill(happens_.begin(), happens_.end(), 0);
  std::fill(together_.begin(), together_.end(), 0);
  for (const MemoryEvent& e : step) {
    merge(happens_.data(), clock(e.thread, kHappens));
    merge(together_.data(), clock(e.thread, kLoads));
    if (e.op == MemoryOp::Fence || e.op == MemoryOp::Interlocked) merge(together_.data(), clock(e.thread, kStores));
    if (e.op == MemoryOp::Interlocked || e.op == MemoryOp::Direct) merge(together_.data(), clock(e.address, kAll));
    if (e.writes()) merge(happens_.data(), clock(e.address, kHappensAll));
  }
}

std::optional<Borderline> Monitor::check(std::span<const MemoryEvent> step) {
  bool any = false;
  for (const MemoryEvent& e : step) any |= loads(e.op);
  if (!any) return std::nullopt;
  before(step);
  for (std::size_t i = 0; i < step.size(); ++i) {
    const MemoryEvent& e = step[i];
    if (!loads(e.op) || is_own(step, i)) continue;
    if (const auto write = missed(e)) return Borderline{i, *write};
  }
  return std::nullopt;
}

std::optional<PastWrite> Monitor::missed(const MemoryEvent& load) const {
  const std::vector<PastWrite>& history = history_[load.address];
  const auto known =
      std::partition_point(history.begin(), history.end(), [&](const PastWrite& w) { return w.count <= happens_[w.group]; });
  for (auto i = known; i != history.begin();) {
    const PastWrite& w = *--i;
    if (must_see(w, load.thread)) break;
    if (!load.has_accepts) return w;
    if (w.has_before && std::find(load.accepts.begin(), load.accepts.end(), w.before) != load.accepts.end()) return w;
  }
  return std::nullopt;
}

std::size_t Monitor::least_seen(std::span<const MemoryEvent> step, std::size_t event) {
  before(step);
  const std::vector<PastWrite>& history = history_[step[event].address];
  std::size_t least = history.size();
  while (least > 0 && !must_see(history[least - 1], step[event].thread)) --least;
  return least;
}

bool Monitor::is_borderline(std::span<const MemoryEvent> step, std::span<const std::size_t> seen) {
  before(step);
  bool stale = false;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i].op != MemoryOp::Load || is_own(step, i)) continue;
    const std::vector<PastWrite>& history = history_[step[i].address];
    if (seen[i] == history.size()) continue;
    const PastWrite& w = history[seen[i]];
    if (must_see(w, step[i].thread)) return false;
    stale |= w.count <= happens_[w.group];
    for (std::size_t j = 0; j < step.size(); ++j) {
      if (j == i || step[j].op != MemoryOp::Load || is_own(step, j)) continue;
      const std::uint32_t address = step[j].address;
      if (seen[j] == 0) continue;
      const PastWrite& read = history_[address][seen[j] - 1];
      if (read.buffered && read.thread == step[j].thread) continue;  // from its own buffer
      if (w.count <= stamps_[address][2 * (seen[j] - 1) * width() + w.group]) return false;
    }
  }
  return stale;
}

void Monitor::add(std::span<const MemoryEvent> step) {
  if (step.size() == 1 && step[0].op == MemoryOp::Wait) return;
  if (undoable_) save(step);
  if (step.size() != 1 || step[0].op != MemoryOp::Store) add_together(step);
  for (const MemoryEvent& e : step)
    if (e.op == MemoryOp::Store) add_store(e);
  publish(step);
  if (kept_ >= prune_at_ && !undoable_ && may_prune_) forget();
}

// Everything of the step that happens at one moment: its loads and its interlocked and direct writes.
void Monitor::add_together(std::span<const MemoryEvent> step) {
  Count* const now = together_.data();
  std::fill(together_.begin(), together_.end(), 0);
  for (std::size_t i = 0; i < step.size(); ++i) {
    const MemoryEvent& e = step[i];
    merge(now, clock(e.thread, kLoads));
    if (e.op == MemoryOp::Fence || e.op == MemoryOp::Interlocked) merge(now, clock(e.thread, kStores));
    if (e.op == MemoryOp::Interlocked || e.op == MemoryOp::Direct) merge(now, clock(e.address, kAll));
    if (e.op == MemoryOp::Load && !is_own(step, i) && addresses_[e.address].storer != e.thread)
      merge(now, clock(e.address, kNewest));
    if (e.has_accepts) may_prune_ = false;
  }
  for (const MemoryEvent& e : step) {
    if (e.op == MemoryOp::Interlocked || e.op == MemoryOp::Direct) now[e.group] = ++written_[e.group];
    if (count_loads_ && (e.op == MemoryOp::Interlocked || e.op == MemoryOp::Load))
      now[clocks_.groups() + e.thread] = ++written_[clocks_.groups() + e.thread];
  }
  for (std::size_t i = 0; i < step.size(); ++i) {
    const MemoryEvent& e = step[i];
    copy(clock(e.thread, kLoads), now);
    if (e.op == MemoryOp::Fence || e.op == MemoryOp::Interlocked) merge(clock(e.thread, kStores), now);
    if (e.op == MemoryOp::Load && !is_own(step, i)) merge(clock(e.address, kAll), now);
    if (e.op == MemoryOp::Interlocked || e.op == MemoryOp::Direct) {
      copy(clock(e.address, kAll), now);
      copy(clock(e.address, kNewest), now);
      addresses_[e.address].storer = kNobody;
      remember(e, now);
    }
  }
  copy(last_relaxed_.data(), now);
}

void Monitor::add_store(const MemoryEvent& e) {
  Count *const all = clock(e.address, kAll), *const stores = clock(e.thread, kStores);
  merge(all, stores);
  merge(all, clock(e.thread, kLoads));
  all[e.group] = ++written_[e.group];
  addresses_[e.address].storer = e.thread;
  copy(clock(e.address, kNewest), all);
  copy(stores, all);
  remember(e, all);
  copy(last_relaxed_.data(), all);
}

// Ordinary happens-before, the whole step as one node.
void Monitor::publish(std::span<const MemoryEvent> step) {
  Count* const now = happens_.data();
  std::fill(happens_.begin(), happens_.end(), 0);
  for (const MemoryEvent& e : step) {
    merge(now, clock(e.thread, kHappens));
    if (e.op == MemoryOp::Load) merge(now, clock(e.address, kHappensWrite));
    if (e.writes()) {
      merge(now, clock(e.address, kHappensAll));
      now[e.group] = written_[e.group];
    }
    if (count_loads_) now[clocks_.groups() + e.thread] = written_[clocks_.groups() + e.thread];
  }
  for (const MemoryEvent& e : step) {
    copy(clock(e.thread, kHappens), now);
    if (e.op == MemoryOp::Load) merge(clock(e.address, kHappensAll), now);
    if (e.writes()) {
      copy(clock(e.address, kHappensAll), now);
      copy(clock(e.address, kHappensWrite), now);
      if (timestamps_) {  // every write of the step has the same one, however often it writes the address
        std::size_t back = 0;
        for (const MemoryEvent& other : step) back += other.writes() && other.address == e.address;
        std::vector<Count>& stamps = stamps_[e.address];
        for (std::size_t i = 0; i < back; ++i) copy(&stamps[stamps.size() - (2 * i + 1) * width()], now);
      }
    }
  }
  copy(last_happens_.data(), now);
}

void Monitor::remember(const MemoryEvent& e, const Count* relaxed) {
  Address& address = addresses_[e.address];
  PastWrite write;
  write.thread = e.thread;
  write.group = e.group;
  write.count = written_[e.group];
  write.location = e.location;
  write.position = e.position;
  write.buffered = e.op == MemoryOp::Store;
  write.has_value = e.has_value;
  write.value = e.value;
  write.has_before = address.has_value;
  write.before = address.value;
  address.has_value = e.has_value;
  address.value = e.value;
  history_[e.address].push_back(write);
  ++kept_;
  if (!timestamps_) return;
  std::vector<Count>& stamps = stamps_[e.address];
  stamps.insert(stamps.end(), relaxed, relaxed + width());
  stamps.resize(stamps.size() + width(), 0);
}

// A happens-before clock that exists now, or is ever merged from such, sees an address up to one of finitely many writes.
// Between two values that some clock holds for a group, only the newest write of the group to each address can matter.
void Monitor::forget() {
  std::vector<std::vector<Count>> seen(clocks_.groups());
  const auto note = [&](const Count* c) {
    for (std::size_t g = 0; g < clocks_.groups(); ++g) seen[g].push_back(c[g]);
  };
  for (std::uint32_t t = 0; t < thread_count_; ++t) note(clock(t, kHappens));
  for (std::uint32_t a = 0; a < addresses_.size(); ++a) {
    note(clock(a, kHappensWrite));
    note(clock(a, kHappensAll));
  }
  for (auto& values : seen) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  kept_ = 0;
  std::vector<Count> next(clocks_.groups());  // the write after this one, of the same group, to the same address
  for (std::size_t a = 0; a < history_.size(); ++a) {
    std::vector<PastWrite>& history = history_[a];
    std::fill(next.begin(), next.end(), 0xffffffffu);
    std::size_t out = history.size();
    for (std::size_t i = history.size(); i-- > 0;) {
      const PastWrite w = history[i];
      const auto& values = seen[w.group];
      const auto v = std::lower_bound(values.begin(), values.end(), w.count);
      const bool needed = i + 1 == history.size() || (v != values.end() && *v < next[w.group]);
      next[w.group] = w.count;
      if (needed) history[--out] = w;
    }
    addresses_[a].pruned |= out > 0;
    history.erase(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(out));
    kept_ += history.size();
  }
  prune_at_ = std::max<std::uint64_t>({1u << 16, 2 * kept_, 4 * history_.size()});
}

// The words of all threads of the step, then those of all its addresses. What is there twice is the same twice.
void Monitor::save(std::span<const MemoryEvent> step) {
  SavedStep saved{saved_words_.size(), 0, 0, 0};
  const auto keep = [&](const Count* words, std::size_t count) {
    saved_words_.insert(saved_words_.end(), words, words + count);
  };
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (i > 0 && step[i - 1].thread == step[i].thread) continue;
    keep(clock(step[i].thread, kLoads), kThreadClocks * width());
    saved_threads_.push_back(step[i].thread);
    ++saved.threads;
  }
  for (const MemoryEvent& e : step) {
    if (e.op != MemoryOp::Load && !e.writes()) continue;
    keep(clock(e.address, kNewest), kAddressClocks * width());
    saved_addresses_.push_back(e.address);
    saved_states_.push_back(addresses_[e.address]);
    ++saved.addresses;
    if (!e.writes()) continue;
    saved_writes_.push_back(e.address);
    ++saved.writes;
  }
  saved_steps_.push_back(saved);
}

void Monitor::undo() {
  const SavedStep saved = saved_steps_.back();
  saved_steps_.pop_back();
  for (std::uint32_t i = 0; i < saved.writes; ++i) {
    const std::uint32_t address = saved_writes_.back();
    saved_writes_.pop_back();
    --written_[history_[address].back().group];
    history_[address].pop_back();
    --kept_;
    if (timestamps_) stamps_[address].resize(stamps_[address].size() - 2 * width());
  }
  const Count* words = &saved_words_[saved.words];
  const auto restore = [&](Count* into, std::size_t count) {
    std::copy_n(words, count, into);
    words += count;
  };
  for (std::size_t i = saved_threads_.size() - saved.threads; i < saved_threads_.size(); ++i)
    restore(clock(saved_threads_[i], kLoads), kThreadClocks * width());
  for (std::size_t i = saved_addresses_.size() - saved.addresses; i < saved_addresses_.size(); ++i) {
    restore(clock(saved_addresses_[i], kNewest), kAddressClocks * width());
    addresses_[saved_addresses_[i]] = saved_states_[i];
  }
  saved_threads_.resize(saved_threads_.size() - saved.threads);
  saved_addresses_.resize(saved_addresses_.size() - saved.addresses);
  saved_states_.resize(saved_states_.size() - saved.addresses);
  saved_words_.resize(saved.words);
}

std::size_t Monitor::bytes() const {
  return clocks_.bytes() + kept_ * sizeof(PastWrite) + addresses_.size() * (sizeof(Address) + sizeof(std::vector<PastWrite>));
}

}  // namespace memfence
