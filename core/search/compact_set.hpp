// A set of visited states in little memory: no parents, no numbers, and of each state only what its place does not tell.
//
// Its parts are chosen by the first bits of the mixed state and grow one by one, so that growing needs room for one part
// more, not for all. Different threads may work on different parts.
#pragma once

#include "search/quotient_table.hpp"
#include "search/records.hpp"

namespace memfence {

class CompactSet {
 public:
  static constexpr unsigned kPartBits = 6;
  static constexpr std::size_t kParts = std::size_t{1} << kPartBits;

  explicit CompactSet(const RecordFormat& format)
      : format_(&format), shift_(format.first_bits() > kPartBits ? format.first_bits() - kPartBits : 0) {
    parts_.reserve(kParts);
    for (std::size_t part = 0; part < kParts; ++part) parts_.emplace_back(shift_, format_->rest_bytes());
  }

  // Of a state, by the first word of its record.
  std::size_t part_of(Word first) const { return static_cast<std::size_t>(first >> shift_); }

  // For one thread at a time in each part.
  void prefetch(std::size_t part, const std::uint8_t* record) const { parts_[part].prefetch(number_of(record)); }
  // Whether the state was not there.
  bool insert(std::size_t part, const std::uint8_t* record) {
    return parts_[part].insert(number_of(record), format_->rest(record));
  }

  std::uint64_t bytes_of(std::size_t part) const { return parts_[part].bytes(); }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const QuotientTable& part : parts_) sum += part.bytes();
    return sum;
  }

  // Calls use(packed state) for every member.
  template <class Use>
  void for_each(std::size_t words, Use&& use) const {
    std::vector<Word> state(words);
    for (std::size_t part = 0; part < kParts; ++part)
      parts_[part].for_each([&](std::uint64_t number, const std::uint8_t* rest) {
        format_->join((static_cast<Word>(part) << shift_) | number, rest, state.data());
        use(state.data());
      });
  }

 private:
  std::uint64_t number_of(const std::uint8_t* record) const { return format_->first(record) & ((Word{1} << shift_) - 1); }

  const RecordFormat* format_;
  unsigned shift_;
  std::vector<QuotientTable> parts_;
};

}  // namespace memfence
