// What mutexes guard, learned while the program runs. Where something that was taken for granted turns out to be wrong,
// exploration begins again.
//
// A thread that wakes up without a signal takes its mutex, looks around and sleeps again. That nobody can notice, and that
// nothing changes while it looks, is true where nobody tries the mutex instead of waiting for it, and where what it looks at
// is written under the mutex only.
#pragma once

#include "own_heap.hpp"

namespace memfence::running {

class Guards {
 public:
  // Whether that is so, as far as is known. From now on it is taken for granted.
  bool is_never_tried(const void* mutex);
  bool is_written_under(int cell, const void* mutex);

  // It happens: a thread tries the mutex; a thread that holds these mutexes writes to the cell. Returns whether something
  // was taken for granted that is wrong.
  bool tried(const void* mutex);
  bool written(int cell, const List<const void*>& held);

  // All that was taken for granted and is wrong: -1 stands for trying.
  struct Claim {
    int cell;
    const void* mutex;
    bool operator==(const Claim&) const = default;
  };
  const List<Claim>& refuted() const { return refuted_; }

 private:
  struct Writes {
    bool any = false;
    List<const void*> held;  // at each of them
  };
  bool refute(const Claim& claim);

  List<const void*> tried_;
  List<Writes> writes_;  // to each cell
  List<Claim> relied_, refuted_;
};

}  // namespace memfence::running
