#include "trace/recorded_run.hpp"

#include <algorithm>

namespace memfence {

namespace {

std::optional<MemoryOp> op_of(std::string_view name) {
  if (name == "ld") return MemoryOp::Load;
  if (name == "st") return MemoryOp::Store;
  if (name == "il") return MemoryOp::Interlocked;
  if (name == "fence") return MemoryOp::Fence;
  if (name == "direct") return MemoryOp::Direct;
  if (name == "sync") return MemoryOp::Sync;
  if (name == "wait") return MemoryOp::Wait;
  return std::nullopt;
}

bool is_addressed(MemoryOp op) { return loads(op) || writes(op); }
bool is_question(std::span<const MemoryEvent> step) { return !step.empty() && step[0].op == MemoryOp::Wait; }

}  // namespace

bool RecordedRun::refuse(Complaint::Part part, std::string message, std::string hint) {
  complaint_ = Complaint{part, TraceErrorKind::Malformed, position_, std::move(message), std::move(hint)};
  return false;
}

bool RecordedRun::take(const TraceLine& event, std::uint64_t position) {
  using enum Complaint::Part;
  position_ = position;
  if (!event.has_op) return refuse(Line, "the event has no `op`", "add \"op\": one of ld, st, il, fence");
  if (event.op == "init") return declare_initial(event);
  const std::optional<MemoryOp> op = op_of(event.op);
  if (!op)
    return refuse(Op, "unknown operation `" + std::string(event.op) + "`",
                  "use ld (load), st (store), il (interlocked) or fence");
  if (!has_right_keys(*op, event)) return false;
  MemoryEvent e = event_of(*op, event);
  if (e.has_accepts && monitor_.is_pruned(e.address))
    return refuse(Op, "`accepts` comes too late in a long trace: older values are forgotten");
  ++events_;
  const bool joins = event.has_step && has_step_ && event.step == step_ && !pending_.empty();
  if (!joins && !flush()) return false;
  if (joins && e.op == MemoryOp::Wait && !is_question(pending_)) return refuse(Op, "`wait` comes first in its step");
  const bool happens = e.op != MemoryOp::Wait && !is_question(pending_);
  if (happens && is_addressed(e.op) && !agrees(e)) return false;
  if (!joins) ++steps_;
  if (happens) keep(e);
  if (!event.has_step) return judge({&e, 1});
  has_step_ = true;
  step_ = event.step;
  pending_.push_back(std::move(e));
  return true;
}

bool RecordedRun::has_right_keys(MemoryOp op, const TraceLine& event) {
  using enum Complaint::Part;
  const auto quoted = [&] { return "`" + std::string(event.op) + "`"; };
  if (!event.has_thread) return refuse(Op, "the event " + quoted() + " has no `thread`", "add \"thread\":0");
  if (is_addressed(op) && !event.has_address)
    return refuse(Op, "the event " + quoted() + " has no `addr`", "add \"addr\":\"x\"");
  if (!is_addressed(op) && (event.has_address || event.has_value))
    return refuse(Op, quoted() + " has no `addr` and no `value`");
  if (event.has_accepts && !loads(op)) return refuse(Op, "only loads have `accepts`");
  if (op == MemoryOp::Wait && event.has_value) return refuse(Op, "`wait` has no `value`");
  if (events_ < 0xfffffff0u) return true;
  refuse(Start, "the trace has more than four thousand million events");
  complaint_->kind = TraceErrorKind::TooLarge;
  return false;
}

MemoryEvent RecordedRun::event_of(MemoryOp op, const TraceLine& event) {
  MemoryEvent e;
  e.op = op;
  e.thread = e.group = thread_number(event.thread);
  if (op == MemoryOp::Direct) e.group = direct_group(e.thread, event.thread);
  if (is_addressed(op)) {
    e.address = addresses_.number(event.address);
    if (e.address >= memory_.size()) {
      memory_.emplace_back();
      monitor_.ensure_addresses(e.address + 1);
    }
  }
  e.location = locations_.number(event.has_location ? event.location : std::string_view{});
  e.has_value = event.has_value;
  e.value = event.has_value ? event.value : 0;
  e.position = position_;
  e.has_accepts = event.has_accepts;
  if (event.has_accepts) e.accepts = event.accepts;
  return e;
}

std::uint32_t RecordedRun::thread_number(std::string_view name) {
  const std::uint32_t number = thread_names_.number(name);
  if (number >= direct_groups_.size()) {
    direct_groups_.resize(number + 1, 0);
    ++shown_threads_;
    monitor_.ensure_threads(number + 1);
  }
  return number;
}

std::uint32_t RecordedRun::direct_group(std::uint32_t thread, std::string_view name) {
  if (direct_groups_[thread] == 0) {
    const std::uint32_t group = thread_names_.number("\x01" + std::string(name));
    direct_groups_.resize(std::max<std::size_t>(direct_groups_.size(), group + 1), 0);
    direct_groups_[thread] = group;
    monitor_.ensure_threads(group + 1);
  }
  return direct_groups_[thread];
}

bool RecordedRun::declare_initial(const TraceLine& event) {
  using enum Complaint::Part;
  if (!event.has_address || !event.has_value) return refuse(Op, "`init` needs `addr` and `value`");
  if (event.has_thread || event.has_step || event.has_accepts) return refuse(Op, "`init` has only `addr`, `value` and `loc`");
  const std::uint32_t address = addresses_.number(event.address);
  if (address < memory_.size())
    return refuse(Op, "`init` comes after the first access to `" + std::string(event.address) + "`");
  monitor_.ensure_addresses(address + 1);
  monitor_.set_initial(address, event.value);
  memory_.push_back({true, event.value, 0});
  return true;
}

// A recorded SC execution has one memory: a load sees what the last write to its address wrote.
bool RecordedRun::agrees(const MemoryEvent& e) {
  Memory& memory = memory_[e.address];
  if (e.writes()) {
    memory = {e.has_value, e.value, e.position};
    return true;
  }
  if (!e.has_value) return true;
  if (memory.known && memory.value != e.value) {
    const std::string last = memory.line
                                 ? "wrote " + std::to_string(memory.value) + " (line " + std::to_string(memory.line) + ")"
                                 : "left " + std::to_string(memory.value) + " there";
    refuse(Complaint::Part::Value,
           "the load sees " + std::to_string(e.value) + " in `" + addresses_.text(e.address) + "`, but " +
               (memory.line ? "the last write " : "the start ") + last,
           "the monitor needs a sequentially consistent execution, its events in the order in which they happened");
    complaint_->kind = TraceErrorKind::Inconsistent;
    return false;
  }
  if (!memory.known && memory.line == 0) {
    memory.known = true;
    memory.value = e.value;
    monitor_.set_initial(e.address, e.value);
  }
  return true;
}

bool RecordedRun::flush() {
  has_step_ = false;
  if (pending_.empty()) return true;
  const bool fine = judge(pending_);
  pending_.clear();
  return fine;
}

bool RecordedRun::judge(std::span<const MemoryEvent> step) {
  if (const auto found = monitor_.check(step)) {
    // The path goes to the load through what it would have written.
    if (is_question(step)) {
      for (std::size_t i = 0; i < step.size(); ++i)
        if (i != found->event) keep(step[i]);
      keep(step[found->event]);
    }
    report(step[found->event], found->missed);
    return false;
  }
  if (!is_question(step)) monitor_.add(step);
  return true;
}

void RecordedRun::keep(const MemoryEvent& e) {
  const PastEvent past{e.op, e.has_value, e.thread, e.address, e.location, e.value, e.position, steps_};
  if (window_.size() < kWindow) {
    window_.push_back(past);
    return;
  }
  window_[oldest_] = past;
  oldest_ = (oldest_ + 1) % kWindow;
}

ShownEvent RecordedRun::shown(const PastEvent& e) const {
  return {e.line,
          e.op,
          thread_names_.text(e.thread),
          is_addressed(e.op) ? addresses_.text(e.address) : "",
          locations_.text(e.location),
          e.has_value ? std::optional(e.value) : std::nullopt};
}

void RecordedRun::report(const MemoryEvent& load, const PastWrite& missed) {
  std::rotate(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(oldest_), window_.end());
  oldest_ = 0;
  const auto at = [&](std::uint64_t line) {
    const auto found = std::find_if(window_.rbegin(), window_.rend(), [&](const PastEvent& e) { return e.line == line; });
    return window_.rend() - found - 1;
  };
  TraceFinding finding;
  const auto to = at(load.position), from = at(missed.position);
  finding.load = shown(window_[static_cast<std::size_t>(to)]);
  const PastEvent write{from < 0 ? MemoryOp::Store : window_[static_cast<std::size_t>(from)].op,
                        missed.has_value,
                        missed.thread,
                        load.address,
                        missed.location,
                        missed.value,
                        missed.position,
                        0};
  finding.missed = shown(write);
  if (missed.has_before) finding.stale = missed.before;
  if (from >= 0) {
    const auto path = happens_path(window_, static_cast<std::size_t>(from), static_cast<std::size_t>(to));
    for (std::size_t i = 0; i < path.size(); ++i) {
      finding.path.push_back(shown(window_[path[i]]));
      if (i > 0 && is_gap(window_[path[i - 1]], window_[path[i]]))
        finding.gaps.emplace_back(finding.path[i - 1], finding.path[i]);
    }
  }
  finding_ = std::move(finding);
}

std::size_t RecordedRun::bytes() const {
  return monitor_.bytes() + window_.size() * sizeof(PastEvent) + memory_.size() * sizeof(Memory) + thread_names_.bytes() +
         addresses_.bytes() + locations_.bytes();
}

}  // namespace memfence
