// The program's heap. Each thread allocates from a zone of its own, so that addresses do not depend on how threads are
// interleaved; freed blocks are not used again in the same execution, so that a later access to them is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace memfence::running {

struct Block {
  char* begin;
  std::size_t size;
  void* pc;             // who allocated it
  bool is_freed;
  void* freed_at;
};

// Blocks of before `main` come from the first zone, whose pages are part of the snapshot.
void open_arena();
char* early_begin();
char* early_end();
// From here on there are executions: `reset_arena` forgets all blocks but the early ones.
void close_early_zone();
void reset_arena();

void* allocate(int thread, std::size_t size, std::size_t alignment, void* pc);
bool is_in_arena(const void* address);
// Every block of this execution.
void each_block(const std::function<void(const Block&)>& visit);
// The block around the address, or null.
Block* block_at(const void* address);

}  // namespace memfence::running
