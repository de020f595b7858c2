// One access of a step, and when two of them conflict: what the monitor puts in order is what partial-order reduction
// depends on, so there is one definition.
#pragma once

#include <cstdint>

namespace memfence {

enum class AccessKind : std::uint8_t {
  Load,
  Store,        // into the store buffer
  LockedLoad,   // part of a locked step
  LockedStore,  // also a read-modify-write as a whole
  DirectStore,  // past whatever is in the store buffer
  Fence,        // no access, but part of the record
};

struct Access {
  AccessKind kind = AccessKind::Load;
  std::int16_t thread = 0;
  std::int32_t address = 0;
  std::int64_t value = 0;  // read or written

  bool touches_memory() const { return kind != AccessKind::Fence; }
  bool reads() const { return kind == AccessKind::Load || kind == AccessKind::LockedLoad; }
  bool writes() const { return touches_memory() && !reads(); }
  bool is_locked() const { return kind != AccessKind::Load && kind != AccessKind::Store; }
};

// Two accesses of one address, at least one of them a write.
inline bool conflict(const Access& a, const Access& b) {
  return a.address == b.address && (a.writes() || b.writes()) && a.touches_memory() && b.touches_memory();
}

}  // namespace memfence
