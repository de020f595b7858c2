// What may be watched while a step is taken: its accesses, to memory or to buffers, too, and loads that look for stores of which
// only somebody else knows.
#pragma once

#include <optional>
#include <vector>

#include "certificate/program.hpp"

namespace memfence::certificate {

// An access to memory; what is read from or put into a buffer is none.
struct Access {
  int variable = 0;
  bool writes = false;
  Number value = 0;
};

// The buffers of some processes begin with stores that were pending before the step: an entry that stands for all of them. Where
// a load looks behind it, the answers say what is there.
struct Behind {
  struct Answer {
    int process, variable;
    std::optional<Number> value;  // the newest pending one; nothing: no store to it is pending
  };
  std::vector<char> pending;  // by process
  std::vector<Answer> answers;
  std::optional<std::pair<int, int>> unanswered;  // process and variable of the first load that no answer is for

  // Whether the process has a pending store to the variable, and its value.
  bool find(int process, int variable, Number& value) {
    for (const Answer& answer : answers) {
      if (answer.process != process || answer.variable != variable) continue;
      if (answer.value) value = *answer.value;
      return answer.value.has_value();
    }
    if (!unanswered) unanswered.emplace(process, variable);
    return false;
  }
};

// Everything that a step reads and writes: an own load reads the buffer of the process, a pending store fills it.
struct Event {
  enum class Kind : std::uint8_t { Load, OwnLoad, Store, PendingStore, Commit };
  Kind kind = Kind::Load;
  int process = 0, variable = 0;
  Number value = 0;
};

// Nothing is watched where there is no pointer.
struct Watch {
  std::vector<Access>* accesses = nullptr;
  Behind* behind = nullptr;
  std::vector<Event>* events = nullptr;
};

}  // namespace memfence::certificate
