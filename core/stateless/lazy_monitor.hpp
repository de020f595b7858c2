// The store-buffer monitor, fed as late as possible.
//
// As long as in no thread a load follows a store without a fence between them (a load that sees its own store aside: going
// through it leads nowhere that the store itself does not), relaxed happens-before is happens-before and nothing can be
// stale. So the clocks are fed only when the first such gap has been found, with all steps up to there, and before that a
// step costs a few bit operations. Nor can a load be stale whose address was never written, or last by its own thread.
#pragma once

#include <optional>
#include <vector>

#include "stateless/executor.hpp"
#include "stateless/frame.hpp"

namespace memfence {

template <Executor E>
class LazyMonitor {
 public:
  LazyMonitor(E& executor, std::vector<Frame>& frames, const Offers& offers)
      : executor_(executor), frames_(frames), offers_(offers), monitor_(executor.make_monitor()) {}

  // The executor was reset. All steps have been taken back.
  void begin() {
    fed_ = 0;
    overwritten_.clear();
    writer_.assign(static_cast<std::size_t>(executor_.addresses()), Writer{});
    set_initial(0);
  }
  // There are more addresses than before.
  void ensure_addresses() {
    const std::size_t known = writer_.size();
    writer_.resize(static_cast<std::size_t>(executor_.addresses()));
    set_initial(known);
  }

  // What the frame inherits from the step that led to it.
  void enter(std::size_t number);
  // Before the step chosen in the frame is taken: how its thread could have gone on with stale values, if it could. Asked
  // once, however many ways on it has. Otherwise the step is noted.
  std::optional<StaleStep> before_step(std::size_t number);
  // Of a thread that waits: the same question, at the end.
  std::optional<StaleStep> at_end(std::size_t number, int thread) {
    return may_be_stale(number, thread) ? find_stale(number, thread) : std::nullopt;
  }
  void undo(Frame& frame);

  // For whoever follows a known schedule: the clocks, fed step by step.
  std::optional<StaleStep> find_stale(std::size_t number, int thread);
  // The events of the step chosen in the frame; none within a lock region. Valid until the next call.
  const std::vector<MemoryEvent>& events_of(std::size_t number);
  bool is_borderline(const std::vector<MemoryEvent>& events) { return monitor_.check(events).has_value(); }
  void feed(const std::vector<MemoryEvent>& events, std::size_t number) {
    if (!events.empty()) monitor_.add(events);
    fed_ = number + 1;
  }

 private:
  // Who made the newest write to an address, and whether by a plain store.
  struct Writer {
    int thread = -1;
    bool buffered = false;
  };
  struct Overwritten {
    int address;
    Writer before;
  };

  void set_initial(std::size_t first) {
    monitor_.ensure_addresses(static_cast<std::uint32_t>(executor_.addresses()));
    for (std::size_t a = first; a < writer_.size(); ++a)
      monitor_.set_initial(static_cast<std::uint32_t>(a), executor_.initial(static_cast<int>(a)));
  }
  const Alternative& taken(const Frame& frame) const { return offers_.alternative(frame.alternative); }
  bool may_be_stale(std::size_t number, int thread) const;
  bool could_be_stale(std::size_t number, int thread) const;
  void note_step(Frame& frame);
  void overwrite(const Access& access);
  void catch_up(std::size_t number) {
    for (; fed_ < number; ++fed_) feed(fed_);
  }
  void feed(std::size_t number);
  void add_region_events(std::size_t number);

  E& executor_;
  std::vector<Frame>& frames_;
  const Offers& offers_;
  Monitor monitor_;
  std::size_t fed_ = 0;  // frames whose steps the monitor knows
  std::vector<Writer> writer_;  // of the newest write to each address
  std::vector<Overwritten> overwritten_;
  std::vector<Access> region_;
  std::vector<MemoryEvent> events_;
};

template <Executor E>
void LazyMonitor<E>::enter(std::size_t number) {
  Frame& frame = frames_[number];
  frame.overwritten = overwritten_.size();
  frame.gap = !executor_.meets_in_memory_only();
  if (number == 0) return;
  const Frame& parent = frames_[number - 1];
  frame.borderline = parent.borderline;
  frame.unfenced = parent.unfenced_after;
  frame.gap = parent.gap_after;
  if (executor_.is_bus_held()) frame.region = parent.region >= 0 ? parent.region : static_cast<int>(number) - 1;
}

template <Executor E>
bool LazyMonitor<E>::may_be_stale(std::size_t number, int thread) const {
  const Frame& frame = frames_[number];
  if (!executor_.meets_in_memory_only() || !executor_.has_simple_loads(thread)) return true;
  if (!frame.gap && !(frame.unfenced & bit(thread))) return false;
  const Offer& mine = offers_.of(number, thread);
  for (std::size_t i = mine.accesses; i < mine.accesses_end; ++i) {
    if (!offers_.access(i).reads()) continue;
    const int writer = writer_[static_cast<std::size_t>(offers_.access(i).address)].thread;
    if (writer >= 0 && writer != thread) return true;
  }
  return false;
}

// Whether the clocks leave room for a stale value in the next step of the thread. No, in most cases.
template <Executor E>
bool LazyMonitor<E>::could_be_stale(std::size_t number, int thread) const {
  const Offer& mine = offers_.of(number, thread);
  const bool simple = executor_.has_simple_loads(thread);
  if (!simple && !executor_.meets_in_memory_only()) return true;
  int before = -1;
  for (std::size_t i = mine.accesses; i < mine.accesses_end; ++i) {
    const Access& access = offers_.access(i);
    if (!access.reads() || access.address == before) continue;
    before = access.address;
    const auto address = static_cast<std::uint32_t>(before);
    if (simple ? monitor_.could_miss(static_cast<std::uint32_t>(thread), address) : !monitor_.history(address).empty())
      return true;
  }
  return false;
}

template <Executor E>
std::optional<StaleStep> LazyMonitor<E>::find_stale(std::size_t number, int thread) {
  if (!offers_.of(number, thread).reads) return std::nullopt;
  catch_up(number);
  if (!could_be_stale(number, thread)) return std::nullopt;
  const Offer& mine = offers_.of(number, thread);
  return executor_.find_stale(thread, {offers_.accesses() + mine.accesses, mine.accesses_end - mine.accesses}, monitor_);
}

template <Executor E>
std::optional<StaleStep> LazyMonitor<E>::before_step(std::size_t number) {
  Frame& frame = frames_[number];
  const Offer& mine = offers_.of(number, frame.process);
  if (mine.reads && frame.alternative == mine.first && frame.region < 0 && may_be_stale(number, frame.process))
    if (auto found = find_stale(number, frame.process)) return found;
  frame.gap_after = frame.gap;
  frame.unfenced_after = frame.unfenced;
  if (taken(frame).accesses != taken(frame).accesses_end) note_step(frame);
  return std::nullopt;
}

template <Executor E>
void LazyMonitor<E>::note_step(Frame& frame) {
  const Alternative& step = taken(frame);
  if (!step.single) {
    frame.gap_after = true;
    for (std::size_t i = step.accesses; i < step.accesses_end; ++i) overwrite(offers_.access(i));
    return;
  }
  const Access& access = offers_.last_access(step);
  const Mask me = bit(access.thread);
  if (step.op == MemoryOp::Load) {
    const Writer writer = writer_[static_cast<std::size_t>(access.address)];
    frame.gap_after |= (frame.unfenced & me) && !(writer.buffered && writer.thread == access.thread);
    return;
  }
  frame.unfenced_after = step.op == MemoryOp::Store ? frame.unfenced | me : frame.unfenced & ~me;
  overwrite(access);
}

template <Executor E>
void LazyMonitor<E>::overwrite(const Access& access) {
  if (!access.writes()) return;
  Writer& writer = writer_[static_cast<std::size_t>(access.address)];
  overwritten_.push_back({access.address, writer});
  writer = {access.thread, access.kind == AccessKind::Store};
}

template <Executor E>
void LazyMonitor<E>::undo(Frame& frame) {
  if (frame.monitored) {
    const Alternative& step = taken(frame);
    if (step.single) {
      const Access& access = offers_.last_access(step);
      monitor_.undo_single(step.op, static_cast<std::uint32_t>(access.thread), static_cast<std::uint32_t>(access.address));
    } else {
      monitor_.undo();
    }
    frame.monitored = false;
  }
  if (fed_ >= frames_.size()) fed_ = frames_.size() - 1;
  for (; overwritten_.size() > frame.overwritten; overwritten_.pop_back())
    writer_[static_cast<std::size_t>(overwritten_.back().address)] = overwritten_.back().before;
}

template <Executor E>
void LazyMonitor<E>::feed(std::size_t number) {
  Frame& frame = frames_[number];
  const Alternative& step = taken(frame);
  if (step.fails) return;
  if (step.single) {
    const Access& access = offers_.last_access(step);
    monitor_.add_single(step.op, static_cast<std::uint32_t>(access.thread), static_cast<std::uint32_t>(access.address),
                        access.value);
    frame.monitored = true;
    return;
  }
  if (step.accesses == step.accesses_end && executor_.meets_in_memory_only()) return;
  const std::vector<MemoryEvent>& events = events_of(number);
  if (events.empty()) return;
  monitor_.add(events);
  frame.monitored = true;
}

template <Executor E>
const std::vector<MemoryEvent>& LazyMonitor<E>::events_of(std::size_t number) {
  const Frame& frame = frames_[number];
  const Alternative& step = taken(frame);
  events_.clear();
  if (frame.region >= 0 || executor_.takes_bus(step)) {
    if (executor_.frees_bus(step)) add_region_events(number);
  } else {
    append_events({offers_.accesses() + step.accesses, step.accesses_end - step.accesses}, executor_.shape(step),
                  executor_.threads(), events_);
  }
  return events_;
}

// Everything its owner did under the bus lock is one locked step; while it lasted nobody else touched memory.
template <Executor E>
void LazyMonitor<E>::add_region_events(std::size_t number) {
  const Frame& frame = frames_[number];
  const auto first = frame.region >= 0 ? static_cast<std::size_t>(frame.region) : number;
  region_.clear();
  for (std::size_t i = first; i <= number; ++i) {
    if (frames_[i].process != frame.process) continue;
    const Alternative& step = taken(frames_[i]);
    for (std::size_t k = step.accesses; k < step.accesses_end; ++k) {
      Access access = offers_.access(k);
      if (access.kind == AccessKind::Load) access.kind = AccessKind::LockedLoad;
      if (access.kind == AccessKind::Store) access.kind = AccessKind::LockedStore;
      region_.push_back(access);
    }
  }
  append_events(region_, StepShape{frame.process, true, -1, false}, executor_.threads(), events_);
  for (MemoryEvent& e : events_) e.has_accepts = e.op == MemoryOp::Load;
}

}  // namespace memfence
