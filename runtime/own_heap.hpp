// Memory of the runtime itself, apart from the program's: it outlives the executions.
//
// Code that runs on the stack of a fiber uses `List`, which asks for this memory by name. The explorer runs on the stack
// of the process, where malloc gives the same memory (arena.cpp).
#pragma once

#include <cstddef>
#include <vector>

namespace memfence::running {

void* allocate_own(std::size_t size, std::size_t alignment = 16);
void free_own(void* block);
std::size_t own_size(const void* block);
bool is_own(const void* address);

template <class T>
struct OwnAllocator {
  using value_type = T;
  OwnAllocator() = default;
  template <class U>
  OwnAllocator(const OwnAllocator<U>&) {}  // NOLINT: allocators convert
  T* allocate(std::size_t count) { return static_cast<T*>(allocate_own(count * sizeof(T), alignof(T) < 16 ? 16 : alignof(T))); }
  void deallocate(T* block, std::size_t) { free_own(block); }
  bool operator==(const OwnAllocator&) const { return true; }
};

template <class T>
using List = std::vector<T, OwnAllocator<T>>;

}  // namespace memfence::running
