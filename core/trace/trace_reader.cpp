#include "trace/trace_reader.hpp"

#include <algorithm>
#include <cstring>

namespace memfence {

std::uint32_t Names::number(std::string_view text) {
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  const auto fresh = static_cast<std::uint32_t>(texts_.size());
  numbers_.emplace(std::string(text), fresh);
  texts_.emplace_back(text);
  bytes_ += 2 * text.size() + 128;
  return fresh;
}

bool TraceReader::fail(TraceErrorKind kind, std::string_view line, std::size_t column, std::size_t length,
                       std::string message, std::string hint) {
  constexpr std::size_t shown = 400;
  error_ = TraceError{kind, line_, column, length, std::string(line.substr(0, std::max(shown, column + length))),
                      std::move(message), std::move(hint)};
  return false;
}

bool TraceReader::feed(std::string_view bytes) {
  if (error_ || finding_) return false;
  while (!bytes.empty()) {
    const void* newline = std::memchr(bytes.data(), '\n', bytes.size());
    const std::size_t end = newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - bytes.data()) : bytes.size();
    const std::string_view piece = bytes.substr(0, end);
    bytes.remove_prefix(std::min(bytes.size(), end + 1));
    if (newline && rest_.empty()) {
      if (!read_line(piece)) return false;
      continue;
    }
    rest_.append(piece);
    if (newline) {
      const std::string whole = std::move(rest_);
      rest_.clear();
      if (!read_line(whole)) return false;
    } else if (rest_.size() > kLongestLine) {
      return read_line(rest_);
    }
  }
  return true;
}

bool TraceReader::finish() {
  if (error_ || finding_) return false;
  if (!rest_.empty()) {
    const std::string whole = std::move(rest_);
    rest_.clear();
    if (!read_line(whole)) return false;
  }
  return flush();
}

bool TraceReader::read_line(std::string_view line) {
  ++line_;
  if (line_ == 1 && line.substr(0, 3) == "\xef\xbb\xbf") line.remove_prefix(3);
  if (line.size() > kLongestLine)
    return fail(TraceErrorKind::TooLarge, line, 0, 1, "the line is longer than " + std::to_string(kLongestLine) + " bytes");
  bool blank = false;
  if (!parser_.parse(line, parsed_, blank))
    return fail(TraceErrorKind::Malformed, line, parser_.column, parser_.length, parser_.message, parser_.hint);
  return blank || take(parsed_, line);
}

std::uint32_t TraceReader::thread_number(std::string_view name) {
  const std::uint32_t number = thread_names_.number(name);
  if (number >= direct_groups_.size()) {
    direct_groups_.resize(number + 1, 0);
    ++shown_threads_;
    monitor_.ensure_threads(number + 1);
  }
  return number;
}

bool TraceReader::take(const TraceLine& parsed, std::string_view line) {
  const auto malformed = [&](std::string message, std::string hint = "") {
    return fail(TraceErrorKind::Malformed, line, parsed.has_op ? parsed.op_column : 0,
                parsed.has_op ? parsed.op.size() + 2 : line.size(), std::move(message), std::move(hint));
  };
  if (!parsed.has_op) return malformed("the event has no `op`", "add \"op\": one of ld, st, il, fence");
  if (parsed.op == "init") return declare_initial(parsed, line);
  MemoryEvent e;
  if (parsed.op == "ld") e.op = MemoryOp::Load;
  else if (parsed.op == "st") e.op = MemoryOp::Store;
  else if (parsed.op == "il") e.op = MemoryOp::Interlocked;
  else if (parsed.op == "fence") e.op = MemoryOp::Fence;
  else if (parsed.op == "direct") e.op = MemoryOp::Direct;
  else if (parsed.op == "sync") e.op = MemoryOp::Sync;
  else if (parsed.op == "wait") e.op = MemoryOp::Wait;
  else return malformed("unknown operation `" + std::string(parsed.op) + "`", "use ld (load), st (store), il (interlocked) or fence");
  const std::string quoted = "`" + std::string(parsed.op) + "`";
  const bool loads = e.op == MemoryOp::Load || e.op == MemoryOp::Wait;
  const bool addressed = loads || e.writes();
  if (!parsed.has_thread) return malformed("the event " + quoted + " has no `thread`", "add \"thread\":0");
  if (addressed && !parsed.has_address) return malformed("the event " + quoted + " has no `addr`", "add \"addr\":\"x\"");
  if (!addressed && (parsed.has_address || parsed.has_value)) return malformed(quoted + " has no `addr` and no `value`");
  if (parsed.has_accepts && !loads) return malformed("only loads have `accepts`");
  if (e.op == MemoryOp::Wait && (parsed.has_value || parsed.has_step)) return malformed("`wait` has no `value` and no `step`");
  if (events_ >= 0xfffffff0u) return fail(TraceErrorKind::TooLarge, line, 0, 1, "the trace has more than four thousand million events");
  e.thread = e.group = thread_number(parsed.thread);
  if (e.op == MemoryOp::Direct) {
    if (direct_groups_[e.thread] == 0) {
      const std::uint32_t group = thread_names_.number("\x01" + std::string(parsed.thread));
      direct_groups_.resize(std::max<std::size_t>(direct_groups_.size(), group + 1), 0);
      direct_groups_[e.thread] = group;
      monitor_.ensure_threads(group + 1);
    }
    e.group = direct_groups_[e.thread];
  }
  if (addressed) {
    e.address = addresses_.number(parsed.address);
    if (e.address >= memory_.size()) {
      memory_.emplace_back();
      monitor_.ensure_addresses(e.address + 1);
    }
  }
  e.location = locations_.number(parsed.has_location ? parsed.location : std::string_view{});
  e.has_value = parsed.has_value;
  e.value = parsed.has_value ? parsed.value : 0;
  e.position = line_;
  if (parsed.has_accepts) {
    e.has_accepts = true;
    e.accepts = parsed.accepts;
    if (monitor_.is_pruned(e.address)) return malformed("`accepts` comes too late in a long trace: older values are forgotten");
  }
  ++events_;
  const bool joins = parsed.has_step && has_step_ && parsed.step == step_ && !pending_.empty();
  if (!joins && !flush()) return false;
  if (addressed && !agrees(e, parsed, line)) return false;
  if (!parsed.has_step) {
    ++steps_;
    keep(e);
    return judge({&e, 1});
  }
  if (!joins) ++steps_;
  has_step_ = true;
  step_ = parsed.step;
  keep(e);
  pending_.push_back(std::move(e));
  return true;
}

bool TraceReader::declare_initial(const TraceLine& parsed, std::string_view line) {
  const auto malformed = [&](std::string message) {
    return fail(TraceErrorKind::Malformed, line, parsed.op_column, parsed.op.size() + 2, std::move(message));
  };
  if (!parsed.has_address || !parsed.has_value) return malformed("`init` needs `addr` and `value`");
  if (parsed.has_thread || parsed.has_step || parsed.has_accepts) return malformed("`init` has only `addr`, `value` and `loc`");
  const std::uint32_t address = addresses_.number(parsed.address);
  if (address < memory_.size()) return malformed("`init` comes after the first access to `" + std::string(parsed.address) + "`");
  monitor_.ensure_addresses(address + 1);
  monitor_.set_initial(address, parsed.value);
  memory_.push_back({false, true, parsed.value, 0});
  return true;
}

// A recorded SC execution has one memory: a load sees what the last write to its address wrote.
bool TraceReader::agrees(const MemoryEvent& e, const TraceLine& parsed, std::string_view line) {
  Memory& memory = memory_[e.address];
  if (e.writes()) {
    memory = {true, e.has_value, e.value, line_};
    return true;
  }
  if (e.op == MemoryOp::Wait || !e.has_value) {
    memory.touched = true;
    return true;
  }
  if (memory.known && memory.value != e.value) {
    const std::string last = memory.line ? "wrote " + std::to_string(memory.value) + " (line " + std::to_string(memory.line) + ")"
                                         : "left " + std::to_string(memory.value) + " there";
    return fail(TraceErrorKind::Inconsistent, line, parsed.value_column, std::to_string(e.value).size(),
                "the load sees " + std::to_string(e.value) + " in `" + std::string(parsed.address) + "`, but " +
                    (memory.line ? "the last write " : "the start ") + last,
                "the monitor needs a sequentially consistent execution, its events in the order in which they happened");
  }
  if (!memory.known && memory.line == 0) {
    memory.known = true;
    memory.value = e.value;
    monitor_.set_initial(e.address, e.value);
  }
  memory.touched = true;
  return true;
}

bool TraceReader::flush() {
  has_step_ = false;
  if (pending_.empty()) return true;
  const bool fine = judge(pending_);
  pending_.clear();
  return fine;
}

bool TraceReader::judge(std::span<const MemoryEvent> step) {
  if (const auto found = monitor_.check(step)) {
    report(step[found->event], found->missed);
    return false;
  }
  monitor_.add(step);
  return true;
}

void TraceReader::keep(const MemoryEvent& e) {
  const PastEvent past{e.op, e.has_value, e.thread, e.address, e.location, e.value, e.position, steps_};
  if (window_.size() < kWindow) {
    window_.push_back(past);
    return;
  }
  window_[oldest_] = past;
  oldest_ = (oldest_ + 1) % kWindow;
}

ShownEvent TraceReader::shown(const PastEvent& e) const {
  const bool addressed = e.op != MemoryOp::Fence && e.op != MemoryOp::Sync;
  return {e.line, e.op, thread_names_.text(e.thread), addressed ? addresses_.text(e.address) : "",
          locations_.text(e.location), e.has_value ? std::optional(e.value) : std::nullopt};
}

void TraceReader::report(const MemoryEvent& load, const PastWrite& missed) {
  std::rotate(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(oldest_), window_.end());
  oldest_ = 0;
  const auto at = [&](std::uint64_t line) {
    const auto found = std::lower_bound(window_.begin(), window_.end(), line,
                                        [](const PastEvent& e, std::uint64_t wanted) { return e.line < wanted; });
    return found != window_.end() && found->line == line ? found - window_.begin() : -1;
  };
  TraceFinding finding;
  const auto to = at(load.position), from = at(missed.position);
  finding.load = shown(window_[static_cast<std::size_t>(to)]);
  const PastEvent write{from < 0 ? MemoryOp::Store : window_[static_cast<std::size_t>(from)].op, missed.has_value, missed.thread,
                        load.address, missed.location, missed.value, missed.position, 0};
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

std::size_t TraceReader::bytes() const {
  return monitor_.bytes() + window_.size() * sizeof(PastEvent) + memory_.size() * sizeof(Memory) + thread_names_.bytes() +
         addresses_.bytes() + locations_.bytes();
}

}  // namespace memfence
