// malloc and its relatives. A program that is explored allocates in the arena; the explorer in memory of its own; a program
// that just runs where it always does.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

#include "arena.hpp"
#include "graph_stops.hpp"
#include "own_heap.hpp"
#include "real.hpp"
#include "start.hpp"

using namespace memfence::running;
using memfence::AccessKind;

namespace memfence::running {
void copy_steps(char* to, const char* from, std::size_t size, bool backwards, void** frame);
}

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

// As steps of the program.
void copy_for_program(char* to, const char* from, std::size_t size, void* pc) {
  void* frame[kReturnAddress + 1] = {};
  frame[kReturnAddress] = pc;
  copy_steps(to, from, size, false, frame);
}

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
    if (world.makes_graphs)
      graph_lose(block->begin, block->size, "free", pc);
    else if (!world.is_alone())
      world.cells.free_block(block->begin, block->size, me.id, me.freed);
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
  if (world.in_program && world.makes_graphs)
    copy_for_program(static_cast<char*>(moved), static_cast<const char*>(block), old < size ? old : size, PC);
  else
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

// --- Memory of the system: blocks of whole pages, which are forgotten between executions as all others are ---------------------

namespace {
// All zeros. What an execution before this one wrote there is dropped without touching it.
void wipe(char* begin, std::size_t size) {
  if (size < 64 * kPage || MEMFENCE_REAL(madvise, begin, size, MADV_DONTNEED) != 0) memset(begin, 0, size);
}

[[noreturn]] void refuse_memory(const char* what, void* pc) { world.fail(Finding::Unsupported, what, pc); }
}  // namespace

MEMFENCE_EXPORT void* mmap(void* wanted, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  MEMFENCE_UNLESS_EXPLORED(mmap, wanted, size, protection, flags, file, offset);
  if ((flags & MAP_ANONYMOUS) == 0) refuse_memory("`mmap` of a file cannot be explored", PC);
  if ((flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0) refuse_memory("`mmap` at an address of its own cannot be explored", PC);
  if (protection != (PROT_READ | PROT_WRITE))
    refuse_memory("`mmap` of memory that is not to be read and written cannot be explored", PC);
  const std::size_t whole = (size + kPage - 1) & ~(kPage - 1);
  char* block = size == 0 ? nullptr : static_cast<char*>(take(whole, kPage, PC));
  if (block == nullptr && size != 0) refuse_memory("`mmap` of more memory than the runtime has", PC);
  if (block == nullptr) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  wipe(block, whole);
  return block;
}
MEMFENCE_EXPORT int munmap(void* begin, std::size_t size) noexcept {
  MEMFENCE_UNLESS_EXPLORED(munmap, begin, size);
  const Block* block = block_at(begin);
  const bool is_whole = block != nullptr && block->begin == begin && (size + kPage - 1) / kPage * kPage == block->size;
  if (!is_whole) refuse_memory("`munmap` of a part of what `mmap` returned cannot be explored", PC);
  give_back(begin, PC);
  return 0;
}
MEMFENCE_EXPORT int madvise(void* begin, std::size_t size, int advice) noexcept {
  MEMFENCE_UNLESS_EXPLORED(madvise, begin, size, advice);
  const bool keeps = advice == MADV_NORMAL || advice == MADV_RANDOM || advice == MADV_SEQUENTIAL || advice == MADV_WILLNEED ||
                     advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE;
  if (!keeps) refuse_memory("`madvise` that drops memory cannot be explored", PC);
  return 0;
}
MEMFENCE_EXPORT void* mremap(void* begin, std::size_t size, std::size_t wanted, int flags, ...) noexcept {
  if (world.in_program) refuse_memory("`mremap` cannot be explored", PC);
  return MEMFENCE_REAL(mremap, begin, size, wanted, flags);
}
MEMFENCE_EXPORT void* sbrk(std::intptr_t more) noexcept {
  if (world.in_program) refuse_memory("`sbrk` cannot be explored", PC);
  return MEMFENCE_REAL(sbrk, more);
}
