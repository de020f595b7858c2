// Memory that shares no cache line with anything else: what one thread writes all the time must not stand beside what
// another one uses, or each write takes the line from the other's cache.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace memfence {

inline constexpr std::size_t kCacheLine = 64;  // bytes that caches hand to each other

template <class T>
struct OwnLines {
  using value_type = T;

  OwnLines() = default;
  template <class Other>
  OwnLines(const OwnLines<Other>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + kCacheLine - 1) / kCacheLine * kCacheLine;
    return static_cast<T*>(::operator new(bytes, std::align_val_t{kCacheLine}));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, std::align_val_t{kCacheLine}); }
  bool operator==(const OwnLines&) const { return true; }
};

template <class T>
using OwnVector = std::vector<T, OwnLines<T>>;

}  // namespace memfence
