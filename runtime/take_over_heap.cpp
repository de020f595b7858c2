// malloc and its relatives. A program that is explored allocates in the arena; the explorer in memory of its own; a program
// that just runs where it always does.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cstddef>
#include <new>

#include "arena.hpp"
#include "own_heap.hpp"
#include "real.hpp"
#include "start.hpp"

using namespace memfence::running;
using memfence::AccessKind;

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

void* take(std::size_t size, std::size_t alignment, void* pc) {
  if (!is_explored()) return alignment > 16 ? __libc_memalign(alignment, size) : __libc_malloc(size);
  if (world.is_on && !world.in_program) return allocate_own(size, alignment);
  int thread = 0;
  if (world.is_on) {
    world.settle();
    world.changed();
    thread = world.me().id;
  }
  void* block = allocate(thread, size, alignment, pc);
  if (block == nullptr) errno = ENOMEM;
  return block;
}

std::size_t size_of(const void* block) {
  if (is_own(block)) return own_size(block);
  const Block* found = block_at(block);
  return found == nullptr ? 0 : found->size;
}

// Freeing is a step that writes the cells of the block: whoever still uses them is found.
void give_back(void* pointer, void* pc) {
  Block* block = block_at(pointer);
  if (block == nullptr || block->begin != pointer) {
    if (world.in_program) world.fail(Finding::BadFree, "free of a pointer that malloc did not return", pc);
    return;
  }
  if (world.in_program) {
    world.settle();
    world.changed();
    Fiber& me = world.me();
    me.freed.clear();
    if (!world.is_alone()) world.cells.free_block(block->begin, block->size, me.id, me.freed);
    if (!me.freed.empty()) {
      Wish wish;
      wish.what = Wish::What::Access;
      wish.kind = AccessKind::Store;
      wish.number = me.freed[0].number;
      wish.cell = {pointer, 0};
      wish.pc = pc;
      wish.name = "free";
      world.stop(wish);
      me.freed.clear();
    }
    block = block_at(pointer);
    if (block->is_freed) world.fail(Finding::DoubleFree, "free of a block that was freed before", pc);
  }
  block->is_freed = true;
  block->freed_at = pc;
}

}  // namespace

#define PC __builtin_return_address(0)

MEMFENCE_EXPORT void* malloc(std::size_t size) { return take(size, 16, PC); }

// `new` asks for memory within the C++ library: who asked is of interest.
MEMFENCE_EXPORT void* _Znwm(std::size_t size) {
  void* block = take(size, 16, PC);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
MEMFENCE_EXPORT void* _Znam(std::size_t size) {
  void* block = take(size, 16, PC);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

MEMFENCE_EXPORT void* calloc(std::size_t count, std::size_t size) {
  if (!is_explored()) return __libc_calloc(count, size);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* block = take(bytes, 16, PC);
  if (block != nullptr) memset(block, 0, bytes);
  return block;
}

MEMFENCE_EXPORT void free(void* block) {
  if (block == nullptr) return;
  if (is_own(block)) return free_own(block);
  if (is_in_arena(block)) return give_back(block, PC);
  if (!world.is_on) return __libc_free(block);
  // A block that libc allocated before there was an arena: it stays where it is.
  if (world.in_program) world.fail(Finding::BadFree, "free of a pointer that malloc did not return", PC);
}

MEMFENCE_EXPORT void* realloc(void* block, std::size_t size) {
  if (block == nullptr) return take(size, 16, PC);
  if (!is_explored() || (!is_own(block) && !is_in_arena(block))) return __libc_realloc(block, size);
  void* moved = take(size, 16, PC);
  if (moved == nullptr) return nullptr;
  const std::size_t old = size_of(block);
  memcpy(moved, block, old < size ? old : size);
  if (is_own(block))
    free_own(block);
  else
    give_back(block, PC);
  return moved;
}

MEMFENCE_EXPORT void* memalign(std::size_t alignment, std::size_t size) { return take(size, alignment, PC); }
MEMFENCE_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) { return take(size, alignment, PC); }
MEMFENCE_EXPORT int posix_memalign(void** into, std::size_t alignment, std::size_t size) {
  *into = take(size, alignment, PC);
  return *into == nullptr ? ENOMEM : 0;
}
MEMFENCE_EXPORT std::size_t malloc_usable_size(void* block) { return block == nullptr ? 0 : size_of(block); }
