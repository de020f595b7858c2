// One event of an execution, as the monitor sees it.
#pragma once

#include <cstdint>
#include <vector>

namespace memfence {

enum class MemoryOp : std::uint8_t {
  Load,
  Store,        // into the store buffer
  Interlocked,  // reads and writes memory, buffer empty
  Fence,        // buffer empty
  Direct,       // a write that reaches memory at once, past whatever is in the buffer
  Sync,         // takes part in the step, touches nothing
  Wait,         // a load that is blocked for ever: it only asks whether a stale value would have let it go on
};

inline bool writes(MemoryOp op) { return op == MemoryOp::Store || op == MemoryOp::Interlocked || op == MemoryOp::Direct; }
// Whether it asks for a value without writing one.
inline bool loads(MemoryOp op) { return op == MemoryOp::Load || op == MemoryOp::Wait; }

struct MemoryEvent {
  MemoryOp op = MemoryOp::Load;
  bool has_value = false;
  bool has_accepts = false;
  std::uint32_t thread = 0;
  std::uint32_t group = 0;  // that its writes are counted in: the thread, or (Direct) one more a thread
  std::uint32_t address = 0;
  std::uint32_t location = 0;  // place in the source, as the caller numbers them
  std::int64_t value = 0;
  std::uint64_t position = 0;         // line of the trace, or number of the event
  std::vector<std::int64_t> accepts;  // where given: a load with another value would not have gone on

  bool writes() const { return memfence::writes(op); }
};

// A write in the history of its address. `before`: what the address held until then.
struct PastWrite {
  std::uint32_t thread = 0, group = 0, count = 0;  // the count-th write of its group
  std::uint32_t location = 0;
  bool has_value = false, has_before = false;
  bool buffered = false;  // a plain store
  std::int64_t value = 0, before = 0;
  std::uint64_t position = 0;
};

}  // namespace memfence
