// A recorded execution, taken event by event and monitored on the way: memory depends on the numbers of threads, addresses
// and source places, not on the length.
//
// Consecutive events with the same `step` happen at one moment. A step that begins with `wait` is a question: what its
// thread could have done with another value. It does not happen.
#pragma once

#include <optional>

#include "execution/happens_path.hpp"
#include "execution/monitor.hpp"
#include "trace/names.hpp"
#include "trace/trace_line.hpp"

namespace memfence {

enum class TraceErrorKind : std::int32_t { Malformed, Inconsistent, TooLarge };

// Why an event was refused, and which part of it is to blame.
struct Complaint {
  enum class Part { Line, Op, Value, Start } part = Part::Line;
  TraceErrorKind kind = TraceErrorKind::Malformed;
  std::uint64_t position = 0;  // of the event
  std::string message, hint;
};

struct ShownEvent {
  std::uint64_t line;
  MemoryOp op;
  std::string thread, address, location;
  std::optional<std::int64_t> value;
};

struct TraceFinding {
  ShownEvent load, missed;
  std::optional<std::int64_t> stale;
  std::vector<ShownEvent> path;  // empty where the missed write is further back than `kWindow` events
  std::vector<std::pair<ShownEvent, ShownEvent>> gaps;
};

class RecordedRun {
 public:
  static constexpr std::size_t kWindow = std::size_t{1} << 20;

  // The next event; `position` is the line it stands in, or its number, and grows. False: there is a complaint or a finding.
  bool take(const TraceLine& event, std::uint64_t position);
  // There are no more events.
  bool finish() { return flush(); }

  const std::optional<Complaint>& complaint() const { return complaint_; }
  const std::optional<TraceFinding>& finding() const { return finding_; }
  std::uint64_t events() const { return events_; }
  std::size_t threads() const { return shown_threads_; }
  std::size_t addresses() const { return addresses_.size(); }
  std::size_t bytes() const;

 private:
  struct Memory {
    bool known = false;
    std::int64_t value = 0;
    std::uint64_t line = 0;  // 0: the initial value
  };

  bool refuse(Complaint::Part part, std::string message, std::string hint = "");
  bool has_right_keys(MemoryOp op, const TraceLine& event);
  bool declare_initial(const TraceLine& event);
  bool agrees(const MemoryEvent& e);
  MemoryEvent event_of(MemoryOp op, const TraceLine& event);
  std::uint32_t thread_number(std::string_view name);
  std::uint32_t direct_group(std::uint32_t thread, std::string_view name);
  bool flush();
  bool judge(std::span<const MemoryEvent> step);
  void keep(const MemoryEvent& e);
  void report(const MemoryEvent& load, const PastWrite& missed);
  ShownEvent shown(const PastEvent& e) const;

  Monitor monitor_;
  Names thread_names_, addresses_, locations_;
  std::vector<std::uint32_t> direct_groups_;  // a thread's group for direct writes, or 0
  std::size_t shown_threads_ = 0;
  std::vector<Memory> memory_;
  std::vector<MemoryEvent> pending_;  // of the step that is not over yet
  bool has_step_ = false;
  std::int64_t step_ = 0;
  std::uint64_t steps_ = 0, events_ = 0, position_ = 0;
  std::vector<PastEvent> window_;  // a ring once it is full
  std::size_t oldest_ = 0;
  std::optional<Complaint> complaint_;
  std::optional<TraceFinding> finding_;
};

}  // namespace memfence
