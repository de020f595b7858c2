// The canonical text of a program is lists in parentheses: here they become trees.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace memfence::certificate {

// The text is not one that this checker can work with. That is no statement about a certificate.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What arithmetic is exact in; states hold numbers of 64 bits.
__extension__ using Wide = __int128;
__extension__ using WideBits = unsigned __int128;

// A word, a number, a quoted name, or a list of such.
struct List {
  std::string text;
  std::vector<List> parts;
  bool is_list = false;

  std::int64_t number() const;
  Wide wide() const;
  int small() const;
  std::vector<std::int64_t> numbers() const;
  const List& at(std::size_t position) const;
  bool is(std::string_view word) const { return !is_list && text == word; }
  bool is_absent() const { return is("_"); }
};

// Every list of the text, in order.
std::vector<List> parse_lists(std::string_view text);

}  // namespace memfence::certificate
