// What processes may still access from a location on, whatever the values: enough to see that most attacks lead nowhere.
#pragma once

#include <array>

#include "certificate/program.hpp"

namespace memfence::certificate {

// A set of variables that several processes access, by their numbers among these.
struct SharedSet {
  static constexpr std::size_t kMost = 256;
  std::array<std::uint64_t, kMost / 64> words{};

  bool any() const { return (words[0] | words[1] | words[2] | words[3]) != 0; }
  bool has(int number) const { return (words[static_cast<std::size_t>(number) / 64] >> (number % 64) & 1) != 0; }
  void add(int number) { words[static_cast<std::size_t>(number) / 64] |= std::uint64_t{1} << (number % 64); }
  SharedSet& operator|=(const SharedSet& other) {
    for (std::size_t n = 0; n < words.size(); ++n) words[n] |= other.words[n];
    return *this;
  }
  SharedSet& operator&=(const SharedSet& other) {
    for (std::size_t n = 0; n < words.size(); ++n) words[n] &= other.words[n];
    return *this;
  }
  friend SharedSet operator|(SharedSet a, const SharedSet& b) { return a |= b; }
  friend SharedSet operator&(SharedSet a, const SharedSet& b) { return a &= b; }
  friend bool operator==(const SharedSet&, const SharedSet&) = default;
};

struct AccessedSets {
  SharedSet read, written;

  SharedSet all() const { return read | written; }
  AccessedSets& operator|=(const AccessedSets& other) {
    read |= other.read;
    written |= other.written;
    return *this;
  }
  friend bool operator==(const AccessedSets&, const AccessedSets&) = default;
};

class AttackText {
 public:
  // `program` as the memory model of the attack reads it. Unsupported for more than `SharedSet::kMost` shared variables.
  explicit AttackText(const Program& program);

  int shared() const { return shared_; }
  // The number of a variable among the shared ones; -1 where only one process accesses it.
  int number_of(int variable) const { return numbers_[static_cast<std::size_t>(variable)]; }
  // What a process may access from a location on; and what before a fence or a locked step.
  const AccessedSets& ahead(int process, Number location) const { return at(ahead_, process, location); }
  const AccessedSets& walk(int process, Number location) const { return at(walk_, process, location); }
  // The steps from a location that may make a plain store to a shared variable.
  const std::vector<int>& starts(int process, Number location) const { return at(starts_, process, location); }

 private:
  template <class T>
  static const T& at(const std::vector<std::vector<T>>& table, int process, Number location) {
    return table[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)];
  }
  AccessedSets accessed(const Program& program, const Transition& transition) const;
  void number(const Program& program);
  std::vector<AccessedSets> closed(const Program& program, const Process& process, bool is_walk) const;

  int shared_ = 0;
  std::vector<int> numbers_;
  std::vector<std::vector<AccessedSets>> ahead_, walk_;
  std::vector<std::vector<std::vector<int>>> starts_;
};

}  // namespace memfence::certificate
