// What a thread does next, and the memory orders of it, as models read them.
#pragma once

#include <cstdint>

namespace memfence::graphs {

using Value = std::int64_t;

// The sets of the models' texts (models/cat) that an access or a fence is in. They are cumulative: what is seq_cst is also
// acquire (if it reads or is a fence), release (if it writes or is a fence) and atomic. None at all: a plain access.
using Order = std::uint8_t;
enum OrderBit : Order {
  kAtomic = 1,   // RLX
  kAcquire = 2,  // ACQ
  kRelease = 4,  // REL
  kSeqCst = 8,   // SC
  kLocked = 16,  // LOCKED: on x86 the access is (part of) a locked instruction, as read-modify-writes and seq_cst stores are
  kFull = 32,    // MFENCE: on x86 the fence waits until the thread's store buffer is empty
};

// None: nothing for now, such as a thread that is not created yet; what others do may change that.
// Choice: it goes on in one of several ways, and nothing decides which.
// Ended: it has returned. Waiting: it waits for what cannot come any more. Void: an assumption of the program is false, or a
// guess was wrong: the execution does not count. Cut: a bound on the executions was reached. Failed: the program fails here.
// Over: the thread ends the whole execution, well.
enum class ActionKind : std::uint8_t { None, Read, Write, Fence, Choice, Ended, Waiting, Void, Cut, Failed, Over };

struct Action {
  ActionKind kind = ActionKind::None;
  Order order = 0;         // of a read: see Outlook
  bool may_wait = true;    // Read: there may be values on which the thread blocks
  bool is_update = false;  // the write of a read-modify-write, which the thread does next after its read
  int location = -1;
  int ways = 0;     // Choice: how many. The first is the usual one; what happens for no reason comes behind it
  Value value = 0;  // Write: what is written

  bool is_event() const { return kind >= ActionKind::Read && kind <= ActionKind::Choice; }
};

// What would become of a thread if its read returned a certain value. Blocks: it would only wait for another one. Updates:
// the write of a read-modify-write comes next. The order may depend on whether a compare-exchange succeeds.
struct Outlook {
  bool blocks = false, updates = false;
  Order order = 0;
};

}  // namespace memfence::graphs
