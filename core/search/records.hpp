// States on their way, as bytes: mixed (Mixing), of every word only as many bytes as it has bits for, and behind them a tag
// where somebody wants one.
#pragma once

#include <cstring>
#include <vector>

#include "machine/own_lines.hpp"
#include "search/mixing.hpp"

namespace memfence {

class RecordFormat {
 public:
  using Tag = std::uint32_t;

  explicit RecordFormat(const Layout& layout, bool has_tag = false) : mixing_(layout) {
    for (std::size_t word = 0; word < layout.words(); ++word) {
      const std::size_t bytes = (layout.bits_of_word(word) + 7) / 8;
      words_.push_back({bytes, bytes == 8 ? ~Word{0} : (Word{1} << (8 * bytes)) - 1});
      state_bytes_ += bytes;
    }
    bytes_ = state_bytes_ + (has_tag ? sizeof(Tag) : 0);
  }

  // Reading and writing touch so many bytes behind a record.
  static constexpr std::size_t kSlack = sizeof(Word);

  std::size_t bytes() const { return bytes_; }
  std::size_t rest_bytes() const { return state_bytes_ - words_[0].bytes; }
  unsigned first_bits() const { return mixing_.bits(); }

  // A packed state is mixed, then written.
  void mix(Word* state) const { mixing_.mix(state); }
  void write(const Word* mixed, std::uint8_t* record) const {
    for (std::size_t word = 0; word < words_.size(); record += words_[word++].bytes)
      std::memcpy(record, &mixed[word], sizeof(Word));
  }
  // The packed state again.
  void read(const std::uint8_t* record, Word* state) const {
    read_mixed(record, state);
    mixing_.unmix(state);
  }
  // The state of which the first word, mixed, and the other bytes are known.
  void join(Word first, const std::uint8_t* rest, Word* state) const {
    state[0] = first;
    for (std::size_t word = 1; word < words_.size(); rest += words_[word++].bytes) {
      state[word] = 0;
      std::memcpy(&state[word], rest, words_[word].bytes);
    }
    mixing_.unmix(state);
  }

  Word first(const std::uint8_t* record) const {
    Word word;
    std::memcpy(&word, record, sizeof word);
    return word & words_[0].mask;
  }
  const std::uint8_t* rest(const std::uint8_t* record) const { return record + words_[0].bytes; }

  void write_tag(std::uint8_t* record, Tag tag) const { std::memcpy(record + state_bytes_, &tag, sizeof tag); }
  Tag tag(const std::uint8_t* record) const {
    Tag tag;
    std::memcpy(&tag, record + state_bytes_, sizeof tag);
    return tag;
  }

 private:
  void read_mixed(const std::uint8_t* record, Word* state) const {
    for (std::size_t word = 0; word < words_.size(); record += words_[word++].bytes) {
      std::memcpy(&state[word], record, sizeof(Word));
      state[word] &= words_[word].mask;
    }
  }

  struct OfWord {
    std::size_t bytes;
    Word mask;
  };
  Mixing mixing_;
  std::vector<OfWord> words_;
  std::size_t state_bytes_ = 0, bytes_ = 0;
};

// A list of records.
class Records {
 public:
  // Room for one more, to be written by the caller.
  std::uint8_t* add(const RecordFormat& format) {
    const std::size_t at = count_++ * format.bytes();
    if (at + format.bytes() + RecordFormat::kSlack > bytes_.size())
      bytes_.resize(std::max(kFewest * format.bytes(), 2 * at) + RecordFormat::kSlack);
    return bytes_.data() + at;
  }
  std::size_t count() const { return count_; }
  std::uint8_t* at(const RecordFormat& format, std::size_t number) { return bytes_.data() + number * format.bytes(); }
  const std::uint8_t* at(const RecordFormat& format, std::size_t number) const {
    return bytes_.data() + number * format.bytes();
  }
  void clear() { count_ = 0; }
  void prefetch(const RecordFormat& format) const {
    for (std::size_t at = 0; at < count_ * format.bytes(); at += kCacheLine) __builtin_prefetch(bytes_.data() + at);
  }
  void release() { *this = Records(); }

 private:
  static constexpr std::size_t kFewest = 16;

  std::vector<std::uint8_t> bytes_;
  std::size_t count_ = 0;
};

}  // namespace memfence
