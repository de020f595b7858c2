// Loads and stores of the program as steps: those that other threads could notice.
#pragma once

#include "world.hpp"

namespace memfence::running {

constexpr int kReturnAddress = 7;  // in the frame that the entry points keep (hook_entries.cpp)

bool is_on_own_stack(const void* address);
// The number of the cell if the access is a step of its own, else -1.
int shared_cell(void* address, std::size_t size, bool writes, void* pc);
Wish wish_of(AccessKind kind, int number, const Cell& cell, void* pc, bool is_atomic);
// That the memory, where it is of the heap, lies in a block that was not freed; and is of no thread that has ended.
void fail_unless_allocated(const void* address, std::size_t size, bool writes, void* pc);
// Stop before an access; others may free its memory in the meantime.
void stop_before(const Wish& wish);
void fence_step(void* pc);
// A locked access that nobody else notices still empties the store buffer.
void fence_if_needed(void* pc);
std::uint64_t load_step(const Cell& cell, int number, void** frame, bool is_atomic);
// A store whose value is known: the runtime makes it, the program does not.
void store_piece(const Cell& cell, std::uint64_t value, void* pc, bool is_volatile);
// Before the program loads, or stores, all of this.
void read_all(void* address, std::size_t size, void** frame, bool is_volatile);
void write_all(void* address, std::size_t size, void** frame, bool is_volatile);
// What a function of the library stores where the program says.
template <class T>
void store_for_program(T* into, T value, void* pc) {
  void* frame[kReturnAddress + 1] = {};
  frame[kReturnAddress] = pc;
  write_all(into, sizeof(T), frame, false);
  *into = value;
}
// The same for a store that becomes steps when the program has made it.
void write_late(char* address, std::size_t size, void** frame, bool is_volatile, bool awaits_load);

}  // namespace memfence::running
