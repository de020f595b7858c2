// A recorded execution, read as JSON lines in pieces of any size and monitored on the way, in one pass.
//
// A line is one flat object, keys in any order: `op` (ld, st, il, fence; also wait, sync, direct, init), `thread`, `addr`,
// `value`, `loc`, `step` (consecutive lines with the same number are one atomic step), `accepts` (a load with another
// value would not have gone on). Anything else is an error with its line and column: nothing is skipped, nothing guessed.
#pragma once

#include "trace/recorded_run.hpp"

namespace memfence {

struct TraceError {
  TraceErrorKind kind = TraceErrorKind::Malformed;
  std::uint64_t line = 0;
  std::size_t column = 0, length = 1;  // in bytes, from 0
  std::string text, message, hint;
};

class TraceReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;

  // Read on. False: there is an error or a finding, and nothing more needs to be fed.
  bool feed(std::string_view bytes);
  // The input is over.
  bool finish();

  const std::optional<TraceError>& error() const { return error_; }
  const RecordedRun& run() const { return run_; }

 private:
  bool is_over() const { return error_ || run_.finding(); }
  bool read_rest();
  bool read_line(std::string_view line);
  void complain(std::string_view line);
  bool fail(TraceErrorKind kind, std::string_view line, std::size_t column, std::size_t length, std::string message,
            std::string hint = "");

  LineParser parser_;
  TraceLine parsed_;
  RecordedRun run_;
  std::uint64_t line_ = 0;
  std::string rest_;  // of a line that is not over yet
  std::optional<TraceError> error_;
};

}  // namespace memfence
