#include "certificate/lists.hpp"

#include <charconv>

namespace memfence::certificate {

namespace {

constexpr int kDeepest = 1000;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool is_at_end() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ == text_.size();
  }
  List parse(int depth) {
    if (is_at_end() || depth > kDeepest) throw Unsupported("a list does not end");
    if (text_[at_] == '"') return quoted();
    if (text_[at_] != '(') return word();
    ++at_;
    List list;
    list.is_list = true;
    while (!is_at_end() && text_[at_] != ')') list.parts.push_back(parse(depth + 1));
    if (is_at_end()) throw Unsupported("a list does not end");
    ++at_;
    return list;
  }

 private:
  // Names matter to nobody here but to channels, which are compared as they are written.
  List quoted() {
    const std::size_t first = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) throw Unsupported("a name does not end");
    ++at_;
    return {std::string(text_.substr(first, at_ - first)), {}, false};
  }
  List word() {
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] != ' ' && text_[at_] != '\n' && text_[at_] != '(' && text_[at_] != ')') ++at_;
    if (at_ == first) throw Unsupported("a word is empty");
    return {std::string(text_.substr(first, at_ - first)), {}, false};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::int64_t List::number() const {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (is_list || error != std::errc() || stop != end) throw Unsupported("`" + text + "` is no 64-bit number");
  return value;
}

// Digit by digit: the library reads no numbers of 128 bits.
Wide List::wide() const {
  const bool is_negative = text.starts_with('-');
  const std::size_t first = is_negative ? 1 : 0;
  bool fits = !is_list && text.size() > first;
  Wide value = 0;
  for (std::size_t n = first; fits && n < text.size(); ++n) {
    const int digit = text[n] - '0';
    fits = digit >= 0 && digit <= 9 && !__builtin_mul_overflow(value, Wide{10}, &value) &&
           !__builtin_add_overflow(value, Wide{is_negative ? -digit : digit}, &value);
  }
  if (!fits) throw Unsupported("`" + text + "` is no 128-bit number");
  return value;
}

int List::small() const {
  const std::int64_t value = number();
  if (value < 0 || value > 1'000'000'000) throw Unsupported("`" + text + "` is too large");
  return static_cast<int>(value);
}

std::vector<std::int64_t> List::numbers() const {
  std::vector<std::int64_t> values;
  for (const List& part : parts) values.push_back(part.number());
  return values;
}

const List& List::at(std::size_t position) const {
  if (position >= parts.size()) throw Unsupported("a list is too short");
  return parts[position];
}

std::vector<List> parse_lists(std::string_view text) {
  Parser parser(text);
  std::vector<List> lists;
  while (!parser.is_at_end()) lists.push_back(parser.parse(0));
  return lists;
}

}  // namespace memfence::certificate
