// Configurations of the backward search, and which stand for which: as in `certificates/checker/dual_order.py`.
#pragma once

#include <optional>
#include <unordered_map>

#include "certificate/dual_local.hpp"

namespace memfence::certificate {

using Memory = std::vector<std::optional<Number>>;  // nothing: any value
using Fifo = std::vector<int>;                      // messages by number, oldest first

// Values that memory had at one moment, or an own store.
struct Message {
  Facts facts;
  bool own = false;
  auto operator<=>(const Message&) const = default;
};

class Messages {
 public:
  int number(const Message& message);
  const Message& operator[](int number) const { return *messages_[static_cast<std::size_t>(number)]; }
  // The value of the newest own store to the variable.
  std::optional<Number> own_value(const Fifo& fifo, int variable) const;
  // Whether the message at this place is the newest own one about its variable.
  bool is_newest_own(const Fifo& fifo, std::size_t place) const;

 private:
  std::map<Message, int> numbers_;
  std::vector<const Message*> messages_;
};

struct Part {
  int kind = 0;  // the process that it is like
  int set = 0;   // of controls
  Fifo fifo;
  bool operator==(const Part&) const = default;
};

// The fixed processes first, each once.
struct Configuration {
  std::vector<Part> parts;
  Memory memory;
  bool operator==(const Configuration&) const = default;
};

// The local processes by kind.
using Locals = std::map<int, LocalProcess>;

class Above {
 public:
  Above(int fixed, const Messages& messages, Locals& locals)
      : fixed_(static_cast<std::size_t>(fixed)), messages_(messages), locals_(locals) {}

  // Take over a configuration; its number: they are counted from 0 on.
  int add(const Configuration& c);
  // The number of a configuration that stands for all that `c` stands for, or kNobody. Those in `likely` are asked first.
  int covering(const Configuration& c, const std::vector<int>& likely = {});
  // Forget those that `c` stands for; their numbers.
  std::vector<int> drop_above(const Configuration& c);

  static constexpr int kNobody = -1;

 private:
  // A part with its newest own messages, and the FIFO in which kPlace marks their places.
  struct Shape {
    int kind, set;
    Fifo owned, word;
  };
  struct Entry {
    Memory memory;
    std::vector<Shape> shapes;
  };
  // Those with the same own messages of the fixed processes. What is below has no bit that the other lacks: bits of what
  // memory is known to hold, and of messages. They lie side by side, since nearly all pairs differ in them.
  struct Group {
    std::vector<std::uint64_t> signatures;
    std::vector<int> numbers;
  };
  Entry entry_of(const Configuration& c) const;
  const Entry& entry(int number) const { return entries_[static_cast<std::size_t>(number)]; }
  std::vector<int> key_of(const Entry& entry) const;
  static std::uint64_t signature(const Entry& entry);
  bool is_below(const Entry& known, const Entry& other);
  bool has_place(const Entry& known, std::size_t one, const Entry& other, std::vector<int>& taken, std::vector<char>& tried);
  bool fits(const Shape& known, const Shape& other);

  std::size_t fixed_;
  const Messages& messages_;
  Locals& locals_;
  std::vector<Entry> entries_;  // by number
  std::map<std::vector<int>, Group> known_;
};

}  // namespace memfence::certificate
