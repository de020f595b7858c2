// A recorded execution, read as JSON lines in pieces of any size and monitored on the way: one pass, memory that depends
// on the numbers of threads, addresses and source places, not on the length.
//
// A line is one flat object, keys in any order: `op` (ld, st, il, fence; also wait, sync, direct, init), `thread`, `addr`,
// `value`, `loc`, `step` (consecutive lines with the same number are one atomic step), `accepts` (a load with another
// value would not have gone on). Anything else is an error with its line and column: nothing is skipped, nothing guessed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "execution/happens_path.hpp"
#include "execution/monitor.hpp"

namespace memfence {

enum class TraceErrorKind : std::int32_t { Malformed, Inconsistent, TooLarge };

struct TraceError {
  TraceErrorKind kind = TraceErrorKind::Malformed;
  std::uint64_t line = 0;
  std::size_t column = 0, length = 1;  // in bytes, from 0
  std::string text, message, hint;
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

// Texts and their numbers.
class Names {
 public:
  std::uint32_t number(std::string_view text);
  const std::string& text(std::uint32_t number) const { return texts_[number]; }
  std::size_t size() const { return texts_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::string> texts_;
  std::size_t bytes_ = 0;
};

// What one line says. Views live as long as the line and the scratch strings of its parser.
struct TraceLine {
  std::string_view op, thread, address, location;
  bool has_op = false, has_thread = false, has_address = false, has_location = false;
  bool has_value = false, has_step = false, has_accepts = false;
  std::int64_t value = 0, step = 0;
  std::vector<std::int64_t> accepts;
  std::size_t op_column = 0, value_column = 0;
};

// Parses the flat objects; `error()` says where and why not.
class LineParser {
 public:
  // Whether the line is an object of the known keys. A line of blanks is none: `blank` is set.
  bool parse(std::string_view line, TraceLine& out, bool& blank);
  std::size_t column = 0, length = 1;
  std::string message, hint;

 private:
  bool fail(std::size_t at, std::size_t size, std::string why, std::string advice = "");
  void skip_blanks();
  bool expect(char c, const char* what);
  bool key_and_value(TraceLine& out);
  bool string(std::string_view& out, std::size_t slot);
  bool escaped(std::string& out);
  bool hex(std::uint32_t& out);
  bool integer(std::int64_t& out);
  bool name(std::string_view& out, std::size_t slot, const char* key);
  bool nothing();
  bool numbers(std::vector<std::int64_t>& out);

  std::string_view line_;
  std::size_t at_ = 0;
  std::string scratch_[6];
  std::uint32_t seen_ = 0;
};

class TraceReader {
 public:
  static constexpr std::size_t kWindow = std::size_t{1} << 20;
  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;

  // Read on. False: there is an error or a finding, and nothing more needs to be fed.
  bool feed(std::string_view bytes);
  // The input is over.
  bool finish();

  const std::optional<TraceError>& error() const { return error_; }
  const std::optional<TraceFinding>& finding() const { return finding_; }
  std::uint64_t events() const { return events_; }
  std::size_t threads() const { return shown_threads_; }
  std::size_t addresses() const { return addresses_.size(); }
  std::size_t bytes() const;

 private:
  struct Memory {
    bool touched = false, known = false;
    std::int64_t value = 0;
    std::uint64_t line = 0;  // 0: the initial value
  };

  bool read_line(std::string_view line);
  bool take(const TraceLine& parsed, std::string_view line);
  bool declare_initial(const TraceLine& parsed, std::string_view line);
  bool agrees(const MemoryEvent& e, const TraceLine& parsed, std::string_view line);
  bool flush();
  bool judge(std::span<const MemoryEvent> step);
  void report(const MemoryEvent& load, const PastWrite& missed);
  void keep(const MemoryEvent& e);
  bool fail(TraceErrorKind kind, std::string_view line, std::size_t column, std::size_t length, std::string message,
            std::string hint = "");
  std::uint32_t thread_number(std::string_view name);
  ShownEvent shown(const PastEvent& e) const;

  LineParser parser_;
  Monitor monitor_;
  Names thread_names_, addresses_, locations_;
  std::vector<std::uint32_t> direct_groups_;  // a thread's group for direct writes, or 0
  std::size_t shown_threads_ = 0;
  std::vector<Memory> memory_;
  std::vector<MemoryEvent> pending_;  // of the step that is not over yet
  bool has_step_ = false;
  std::int64_t step_ = 0;
  std::uint64_t steps_ = 0, events_ = 0, line_ = 0;
  std::string rest_;
  std::vector<PastEvent> window_;  // a ring once it is full
  std::size_t oldest_ = 0;
  TraceLine parsed_;
  std::optional<TraceError> error_;
  std::optional<TraceFinding> finding_;
};

}  // namespace memfence
