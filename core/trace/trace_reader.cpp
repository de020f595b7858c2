#include "trace/trace_reader.hpp"

#include <algorithm>
#include <cstring>

namespace memfence {

bool TraceReader::fail(TraceErrorKind kind, std::string_view line, std::size_t column, std::size_t length, std::string message,
                       std::string hint) {
  constexpr std::size_t shown = 400;
  error_ = TraceError{
      kind,           line_, column, length, std::string(line.substr(0, std::max(shown, column + length))), std::move(message),
      std::move(hint)};
  return false;
}

bool TraceReader::feed(std::string_view bytes) {
  if (is_over()) return false;
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
    if (newline ? !read_rest() : rest_.size() > kLongestLine && !read_line(rest_)) return false;
  }
  return true;
}

bool TraceReader::finish() {
  if (is_over() || (!rest_.empty() && !read_rest())) return false;
  return run_.finish();
}

bool TraceReader::read_rest() {
  const std::string whole = std::move(rest_);
  rest_.clear();
  return read_line(whole);
}

bool TraceReader::read_line(std::string_view line) {
  ++line_;
  if (line_ == 1 && line.substr(0, 3) == "\xef\xbb\xbf") line.remove_prefix(3);
  if (line.size() > kLongestLine)
    return fail(TraceErrorKind::TooLarge, line, 0, 1, "the line is longer than " + std::to_string(kLongestLine) + " bytes");
  bool blank = false;
  if (!parser_.parse(line, parsed_, blank))
    return fail(TraceErrorKind::Malformed, line, parser_.column, parser_.length, parser_.message, parser_.hint);
  if (blank || run_.take(parsed_, line_)) return true;
  if (run_.complaint()) complain(line);
  return false;
}

// Point at the part of the line that is to blame.
void TraceReader::complain(std::string_view line) {
  const Complaint& why = *run_.complaint();
  std::size_t column = 0, length = 1;
  switch (why.part) {
    case Complaint::Part::Line: length = line.size(); break;
    case Complaint::Part::Start: break;
    case Complaint::Part::Op:
      column = parsed_.op_column;
      length = parsed_.op.size() + 2;
      break;
    case Complaint::Part::Value:
      column = parsed_.value_column;
      length = std::to_string(parsed_.value).size();
      break;
  }
  fail(why.kind, line, column, length, why.message, why.hint);
}

}  // namespace memfence
