// A set of byte strings of any length that only grows. Each has a number, in the order in which they came.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace memfence::certificate {

class ByteStrings {
 public:
  std::size_t size() const { return ends_.size(); }
  std::size_t bytes() const {
    return bytes_.capacity() + ends_.capacity() * sizeof(std::uint64_t) + table_.capacity() * sizeof(std::uint32_t);
  }
  // The string of a number; valid until the next one is inserted.
  std::string_view at(std::size_t number) const {
    const std::uint64_t first = number == 0 ? 0 : ends_[number - 1];
    return {bytes_.data() + first, ends_[number] - first};
  }
  bool contains(std::string_view text) const { return !table_.empty() && table_[place_of(text)] != 0; }
  // Whether the string is new.
  bool insert(std::string_view text) {
    if (2 * (size() + 1) > table_.size()) grow();
    const std::size_t place = place_of(text);
    if (table_[place] != 0) return false;
    bytes_.append(text);
    ends_.push_back(bytes_.size());
    table_[place] = static_cast<std::uint32_t>(ends_.size());
    return true;
  }

 private:
  // Where the string is, or would be.
  std::size_t place_of(std::string_view text) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t place = std::hash<std::string_view>{}(text)&mask;
    while (table_[place] != 0 && at(table_[place] - 1) != text) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    const std::size_t places = table_.empty() ? 1024 : 2 * table_.size();
    table_.assign(places, 0);
    for (std::size_t n = 0; n < size(); ++n) table_[place_of(at(n))] = static_cast<std::uint32_t>(n + 1);
  }

  std::string bytes_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> table_;  // numbers + 1, 0 where there is none
};

}  // namespace memfence::certificate
