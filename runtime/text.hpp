// A text of limited length, made without allocating: hooks run on the program's stacks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memfence::running {

template <std::size_t Size>
class Text {
 public:
  Text& operator<<(const char* text) {
    while (*text != '\0' && length_ + 1 < Size) content_[length_++] = *text++;
    content_[length_] = '\0';
    return *this;
  }
  Text& operator<<(std::uint64_t number) {
    char digits[24];
    std::size_t at = sizeof(digits);
    digits[--at] = '\0';
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return *this << &digits[at];
  }
  Text& operator<<(unsigned number) { return *this << static_cast<std::uint64_t>(number); }
  const char* content() const { return content_; }

 private:
  char content_[Size] = {};
  std::size_t length_ = 0;
};

}  // namespace memfence::running
