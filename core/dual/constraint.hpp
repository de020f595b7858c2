// A constraint of the backward search: a minimal configuration that stands for itself and everything above it.
//
// It has one part for each fixed process, and a multiset of parts for those of which there may be any number. A part is a
// set of control states (dual/sets.hpp) and a FIFO of load messages, oldest first, in which 0 marks the places of the
// owned messages. For each shared variable the constraint has the value that memory holds, or unknown. The order (paper:
// Abdulla, Atig, Bouajjani and Ngo, CONCUR 2016): a is below b where what a says about memory is what b says, and each
// part of a has a part of b of its own, of the same process or kind: its set includes the other's, and between owned
// messages each word is a subword of the other's. b may have more parts. It is a well-quasi-order, so a search that drops
// whatever lies above something known ends.
#pragma once

#include <span>

#include "dual/sets.hpp"

namespace memfence::dual {

using Fifo = std::vector<int>;

struct Constraint {
  std::vector<int> kinds;  // of each part: its process, or the one that its kind is called by
  std::vector<Set> sets;
  std::vector<Fifo> fifos;
  std::vector<int> memory;  // of shared variables: number of the value, or unknown_number

  int parts() const { return static_cast<int>(sets.size()); }
  std::size_t messages() const;
  void add_part(int kind, Set set);
  void drop_part(int part);
};

// Constraints are kept as flat numbers: how many parts, their kinds, their sets, the memory, then each FIFO with its length
// in front.
std::vector<std::int32_t> flatten(const Constraint& c);
Constraint unflatten(std::span<const std::int32_t> flat, std::size_t shared);

// All constraints that lie above no other, grouped by the owned messages of all fixed processes: only within a group they
// can be comparable. Inside a group signatures rule out most pairs: bits of the messages and memory values that occur, and of
// the control states that do not. What is below has no bit that the other lacks. They lie side by side, since nearly all
// the time of a long search is spent on them.
class Frontier {
 public:
  Frontier(std::vector<Sets>& sets, std::size_t fixed, std::size_t shared) : sets_(sets), fixed_(fixed), shared_(shared) {}

  // Add the constraint unless something below it is there already; drop what lies above it. Its number, or -1.
  int add(const Constraint& c, int parent);

  bool is_alive(int number) const { return entries_[static_cast<std::size_t>(number)].alive; }
  int parent(int number) const { return entries_[static_cast<std::size_t>(number)].parent; }
  Constraint constraint(int number) const;
  std::uint64_t bytes() const { return bytes_; }
  std::size_t alive() const { return alive_; }
  std::size_t count() const { return entries_.size(); }

 private:
  struct Entry {
    std::vector<std::int32_t> flat;
    int parent;
    bool alive;
  };
  struct Signature {
    std::uint64_t present, missing;
    int number;

    bool may_be_below(const Signature& o) const { return ((present & ~o.present) | (missing & ~o.missing)) == 0; }
  };

  using Flat = std::span<const std::int32_t>;
  struct Part {
    int kind;
    Set set;
    Flat fifo;
  };
  std::vector<Part>& parts_of(Flat flat, std::vector<Part>& out) const;
  bool is_below(Flat a, Flat b);
  bool is_below(const Part& a, const Part& b);
  // Whether the parts of `left_` from `from` on have parts of `right_` of their own that are not `taken_`.
  bool have_partners(std::size_t from);
  Signature signature(const Constraint& c) const;

  std::vector<Sets>& sets_;
  std::size_t fixed_, shared_;
  std::vector<Part> left_, right_;  // of the comparison under way
  std::vector<bool> taken_;
  std::vector<Entry> entries_;
  std::unordered_map<std::vector<int>, std::vector<Signature>, HashNumbers> groups_;
  std::uint64_t bytes_ = 0;
  std::size_t alive_ = 0;
};

}  // namespace memfence::dual
