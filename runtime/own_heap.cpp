#include "own_heap.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "complain.hpp"

namespace memfence::running {

namespace {

// Blocks of 2^n bytes, a free list for each n, cut from one reservation that the kernel fills as it is used.
constexpr std::size_t kReserved = std::size_t{64} << 30;
constexpr std::size_t kHeader = 16;

struct Header {
  std::uint64_t order;   // 2^order bytes, this header included
  std::uint64_t offset;  // from the block to where it was cut, for alignments above 16
};

char* begin_ = nullptr;
char* next_ = nullptr;
void* free_[64] = {};

void reserve() {
  void* room = mmap(nullptr, kReserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) give_up("no room for the runtime's own memory");
  begin_ = next_ = static_cast<char*>(room);
}

Header* header_of(const void* block) {
  return reinterpret_cast<Header*>(const_cast<char*>(static_cast<const char*>(block)) - kHeader);
}

}  // namespace

bool is_own(const void* address) { return address >= begin_ && address < begin_ + kReserved && begin_ != nullptr; }

void* allocate_own(std::size_t size, std::size_t alignment) {
  if (begin_ == nullptr) reserve();
  const std::size_t needed = size + kHeader + (alignment > 16 ? alignment : 0);
  std::uint64_t order = 5;
  while ((std::size_t{1} << order) < needed) ++order;
  char* cut = static_cast<char*>(free_[order]);
  if (cut != nullptr) {
    free_[order] = *reinterpret_cast<void**>(cut);
  } else {
    cut = next_;
    next_ += std::size_t{1} << order;
    if (next_ > begin_ + kReserved) give_up("the runtime's own memory is used up");
  }
  char* block = cut + kHeader;
  if (alignment > 16) block += (alignment - reinterpret_cast<std::uintptr_t>(block) % alignment) % alignment;
  *header_of(block) = {order, static_cast<std::uint64_t>(block - cut)};
  return block;
}

void free_own(void* block) {
  if (block == nullptr) return;
  const Header header = *header_of(block);
  void* cut = static_cast<char*>(block) - header.offset;
  *static_cast<void**>(cut) = free_[header.order];
  free_[header.order] = cut;
}

std::size_t own_size(const void* block) {
  const Header* header = header_of(block);
  return (std::size_t{1} << header->order) - header->offset;
}

}  // namespace memfence::running
