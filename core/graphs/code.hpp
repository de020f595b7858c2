// Unrolled code (axiomatic/code.py) as the core sees it: for each thread a list of items in program order, without loops.
// Slots are defined once, by the item that stands before everything that uses them.
#pragma once

#include <cstdint>
#include <vector>

#include "graphs/action.hpp"
#include "machine/expression.hpp"

namespace memfence::graphs {

enum class ItemKind : std::int32_t { Define, Join, Choose, Guess, Read, Write, Fence, Check, Wait, Over, Cut, End };

// Expressions by number. `guard`: -1 where it is always true. What the other fields mean:
//   Define  slot := value.
//   Join    slot := value of the first alternative (`more`: guard, value, ...) whose guard is true.
//   Choose  slot := one of `more`.
//   Guess   slot := whether the compare-exchange succeeds whose read is item `partner`; it is known when the value is.
//   Read    slot := what is at `base` + `index`. Of a compare-exchange with two orders (`partner` >= 0), the read where it
//           succeeds: `partner` is the one where it fails, `value` what is expected, `guess` the Guess.
//   Write   value, to `base` + `index`; `partner`: the read that it makes a read-modify-write with, else -1.
//   Check, Wait   of the condition `value`. A thread that waits goes on later if `index` is true of its slots and of what
//           memory holds at last; -1: nobody knows. `base`: 1 where it reads again what it has read last, else the value that
//           it has is what it waits with. `more` is not empty if it may wait there for ever.
//   End     `more`: the slots with the last values of the registers.
// The slots of a thread begin with those of the variables, for expressions about what memory holds at last.
struct Item {
  ItemKind kind;
  int guard, slot, base, index, value;
  Order order;
  int partner, guess;
  std::vector<std::int64_t> more;
};

struct Code {
  std::vector<std::vector<Item>> threads;
  std::vector<int> slots;      // of each thread
  std::vector<Value> initial;  // of each variable
  std::vector<Expression> expressions;
};

}  // namespace memfence::graphs
