#include "trace/trace_line.hpp"

#include <algorithm>
#include <array>

namespace memfence {

namespace {

enum Key : std::uint32_t { kOp, kThread, kAddr, kValue, kLoc, kStep, kAccepts, kKeys };
constexpr std::array<std::string_view, kKeys> kNames{"op", "thread", "addr", "value", "loc", "step", "accepts"};
constexpr const char* kKnown = "the keys are op, thread, addr, value, loc, step, accepts";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
    const unsigned lead = byte(i);
    const std::size_t more = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) return false;
    for (std::size_t k = 1; k <= more; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    if ((lead == 0xe0 && byte(i + 1) < 0xa0) || (lead == 0xed && byte(i + 1) > 0x9f)) return false;
    if ((lead == 0xf0 && byte(i + 1) < 0x90) || (lead == 0xf4 && byte(i + 1) > 0x8f)) return false;
    i += more + 1;
  }
  return true;
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  }
}

}  // namespace

bool LineParser::fail(std::size_t at, std::size_t size, std::string why, std::string advice) {
  column = std::min(at, line_.size());
  length = std::max<std::size_t>(1, size);
  message = std::move(why);
  hint = std::move(advice);
  return false;
}

void LineParser::skip_blanks() {
  while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
}

bool LineParser::expect(char c, const char* what) {
  skip_blanks();
  if (at_ < line_.size() && line_[at_] == c) {
    ++at_;
    return true;
  }
  return fail(at_, 1, std::string("expected ") + what);
}

bool LineParser::parse(std::string_view line, TraceLine& out, bool& blank) {
  line_ = line;
  at_ = 0;
  seen_ = 0;
  out.has_op = out.has_thread = out.has_address = out.has_location = false;
  out.has_value = out.has_step = out.has_accepts = false;
  skip_blanks();
  blank = at_ == line_.size();
  if (blank) return true;
  if (line_[at_] != '{')
    return fail(at_, line_.size() - at_, "expected a JSON object",
                "one event a line: {\"op\":\"st\",\"thread\":0,\"addr\":\"x\",\"value\":1}");
  ++at_;
  skip_blanks();
  if (at_ < line_.size() && line_[at_] == '}') {
    ++at_;
  } else {
    while (true) {
      if (!key_and_value(out)) return false;
      skip_blanks();
      if (at_ < line_.size() && line_[at_] == ',') {
        ++at_;
        continue;
      }
      if (!expect('}', "`,` or `}`")) return false;
      break;
    }
  }
  skip_blanks();
  if (at_ != line_.size()) return fail(at_, line_.size() - at_, "there is more text after the object", "one event a line");
  return true;
}

bool LineParser::key_and_value(TraceLine& out) {
  skip_blanks();
  const std::size_t start = at_;
  std::string_view key;
  if (at_ >= line_.size() || line_[at_] != '"') return fail(at_, 1, "expected a key in double quotes", kKnown);
  if (!string(key, 0)) return false;
  const auto found = std::find(kNames.begin(), kNames.end(), key);
  if (found == kNames.end()) return fail(start, at_ - start, "unknown key `" + std::string(key) + "`", kKnown);
  const auto number = static_cast<std::uint32_t>(found - kNames.begin());
  if (seen_ & (1u << number)) return fail(start, at_ - start, "the key `" + std::string(key) + "` is there twice");
  seen_ |= 1u << number;
  if (!expect(':', "`:`")) return false;
  skip_blanks();
  const std::size_t value_start = at_;
  switch (static_cast<Key>(number)) {
    case kOp:
      out.has_op = true;
      out.op_column = value_start;
      if (at_ >= line_.size() || line_[at_] != '"') return fail(at_, 1, "`op` is a text", "one of ld, st, il, fence");
      return string(out.op, 1);
    case kThread: out.has_thread = true; return name(out.thread, 2, "thread");
    case kAddr:
      if (nothing()) return true;
      out.has_address = true;
      return name(out.address, 3, "addr");
    case kValue:
      if (nothing()) return true;
      out.has_value = true;
      out.value_column = value_start;
      return integer(out.value);
    case kLoc:
      if (nothing()) return true;
      out.has_location = true;
      if (at_ >= line_.size() || line_[at_] != '"') return fail(at_, 1, "`loc` is a text", "\"loc\":\"file:line\"");
      return string(out.location, 4);
    case kStep: out.has_step = true; return integer(out.step);
    case kAccepts: out.has_accepts = true; return numbers(out.accepts);
    case kKeys: break;
  }
  return false;
}

bool LineParser::nothing() {
  if (line_.substr(at_, 4) != "null") return false;
  at_ += 4;
  return true;
}

bool LineParser::name(std::string_view& out, std::size_t slot, const char* key) {
  if (at_ < line_.size() && line_[at_] == '"') return string(out, slot);
  const std::size_t start = at_;
  std::int64_t number;
  if (at_ >= line_.size() || (!is_digit(line_[at_]) && line_[at_] != '-'))
    return fail(at_, 1, std::string("`") + key + "` is a text or a whole number");
  if (!integer(number)) return false;
  out = line_.substr(start, at_ - start);
  return true;
}

bool LineParser::integer(std::int64_t& out) {
  const std::size_t start = at_;
  const bool negative = at_ < line_.size() && line_[at_] == '-';
  at_ += negative;
  const std::size_t digits = at_;
  std::uint64_t sum = 0;
  bool large = false;
  for (; at_ < line_.size() && is_digit(line_[at_]); ++at_) {
    large |= sum > (UINT64_MAX - 9) / 10;
    sum = sum * 10 + static_cast<std::uint64_t>(line_[at_] - '0');
  }
  if (at_ == digits) return fail(start, 1, "expected a whole number");
  if (at_ - digits > 1 && line_[digits] == '0') return fail(start, at_ - start, "a number does not start with 0");
  if (at_ < line_.size() && (line_[at_] == '.' || line_[at_] == 'e' || line_[at_] == 'E'))
    return fail(start, at_ + 1 - start, "expected a whole number");
  const std::uint64_t most = std::uint64_t{1} << 63;
  if (large || sum > most || (sum == most && !negative)) return fail(start, at_ - start, "the number needs more than 64 bits");
  out = negative ? static_cast<std::int64_t>(~sum + 1) : static_cast<std::int64_t>(sum);
  return true;
}

bool LineParser::numbers(std::vector<std::int64_t>& out) {
  out.clear();
  if (!expect('[', "`[`")) return false;
  skip_blanks();
  if (at_ < line_.size() && line_[at_] == ']') {
    ++at_;
    return true;
  }
  while (true) {
    skip_blanks();
    if (!integer(out.emplace_back())) return false;
    skip_blanks();
    if (at_ < line_.size() && line_[at_] == ',') {
      ++at_;
      continue;
    }
    return expect(']', "`,` or `]`");
  }
}

// A text without escapes is a view of the line; only others are built, in `scratch_[slot]`.
bool LineParser::string(std::string_view& out, std::size_t slot) {
  const std::size_t start = ++at_;
  bool plain = true, ascii = true;
  for (; at_ < line_.size() && line_[at_] != '"'; ++at_) {
    const auto c = static_cast<unsigned char>(line_[at_]);
    if (c < 0x20) return fail(at_, 1, "a control character in a text has to be escaped");
    ascii &= c < 0x80;
    if (c == '\\') {
      plain = false;
      ++at_;
    }
  }
  if (at_ >= line_.size()) return fail(start - 1, line_.size() - start + 1, "the text has no closing quote");
  if (!ascii && !is_utf8(line_.substr(start, at_ - start))) return fail(start, at_ - start, "the text is not UTF-8");
  if (plain) {
    out = line_.substr(start, at_ - start);
    ++at_;
    return true;
  }
  const std::size_t end = at_;
  std::string& built = scratch_[slot];
  built.clear();
  for (at_ = start; at_ < end;) {
    if (line_[at_] != '\\')
      built.push_back(line_[at_++]);
    else if (!escaped(built))
      return false;
  }
  ++at_;
  out = built;
  return true;
}

bool LineParser::hex(std::uint32_t& out) {
  out = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < line_.size() ? line_[at_] : ' ';
    const int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return fail(at_, 1, "expected four hexadecimal digits after `\\u`");
    out = out * 16 + static_cast<std::uint32_t>(digit);
  }
  return true;
}

bool LineParser::escaped(std::string& out) {
  const std::size_t start = at_++;
  const char c = at_ < line_.size() ? line_[at_++] : ' ';
  constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
  if (const auto i = from.find(c); i != std::string_view::npos) {
    out.push_back(to[i]);
    return true;
  }
  if (c != 'u') return fail(start, 2, "there is no such escape");
  std::uint32_t code, low;
  if (!hex(code)) return false;
  if (code >= 0xd800 && code < 0xdc00 && line_.substr(at_, 2) == "\\u") {
    at_ += 2;
    if (!hex(low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return fail(start, at_ - start, "half of a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xd800 && code < 0xe000) {
    return fail(start, at_ - start, "half of a surrogate pair");
  }
  append_utf8(out, code);
  return true;
}

}  // namespace memfence
