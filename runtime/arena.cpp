#include "arena.hpp"

#include <sys/mman.h>

#include <cstring>

#include "complain.hpp"
#include "own_heap.hpp"

namespace memfence::running {

namespace {

constexpr int kZones = 65;  // one for what happens before `main`, then one for each thread
constexpr std::size_t kZone = std::size_t{1} << 30;
constexpr std::uintptr_t kWanted = 0x200000000000;
constexpr std::size_t kGap = 32;  // between blocks, so that an overrun does not meet the next one

struct Zone {
  char *begin, *next;
  List<Block> blocks;
};

char* arena_ = nullptr;
Zone* zones_ = nullptr;
bool is_early_ = true;
int zones_end_ = 1;  // zones beyond were not used in this execution
List<char>* early_freed_ = nullptr;

}  // namespace

void open_arena() {
  void* room = mmap(reinterpret_cast<void*>(kWanted), kZones * kZone, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) give_up("no room for the program's heap");
  arena_ = static_cast<char*>(room);
  zones_ = static_cast<Zone*>(allocate_own(sizeof(Zone) * kZones));
  for (int i = 0; i < kZones; ++i) {
    char* begin = arena_ + static_cast<std::size_t>(i) * kZone;
    new (&zones_[i]) Zone{begin, begin, {}};
  }
}

char* early_begin() { return zones_[0].begin; }
char* early_end() {
  const auto used = static_cast<std::size_t>(zones_[0].next - zones_[0].begin);
  return zones_[0].begin + ((used + 4095) & ~std::size_t{4095});
}

void close_early_zone() {
  is_early_ = false;
  early_freed_ = static_cast<List<char>*>(allocate_own(sizeof(List<char>)));
  new (early_freed_) List<char>();
  for (const Block& block : zones_[0].blocks) early_freed_->push_back(block.is_freed);
}

void reset_arena() {
  for (std::size_t i = 0; i < zones_[0].blocks.size(); ++i) zones_[0].blocks[i].is_freed = (*early_freed_)[i] != 0;
  for (int i = 1; i < zones_end_; ++i) {
    zones_[i].next = zones_[i].begin;
    zones_[i].blocks.clear();
  }
  zones_end_ = 1;
}

void* allocate(int thread, std::size_t size, std::size_t alignment, void* pc) {
  if (thread + 2 > zones_end_ && !is_early_) zones_end_ = thread + 2;
  Zone& zone = zones_[is_early_ ? 0 : thread + 1];
  const std::size_t step = alignment < 16 ? 16 : alignment;
  char* begin = zone.next + (step - reinterpret_cast<std::uintptr_t>(zone.next) % step) % step;
  if (size > kZone - kGap || begin + size + kGap > zone.begin + kZone) return nullptr;
  zone.next = begin + size + kGap;
  zone.blocks.push_back({begin, size, pc, false, nullptr});
  if (!is_early_) std::memset(begin, 0, size);
  return begin;
}

bool is_in_arena(const void* address) { return arena_ != nullptr && address >= arena_ && address < arena_ + kZones * kZone; }

void each_block(const std::function<void(const Block&)>& visit) {
  for (int i = 1; i < zones_end_; ++i)
    for (const Block& block : zones_[i].blocks) visit(block);
}

Block* block_at(const void* address) {
  const auto zone = static_cast<std::size_t>(static_cast<const char*>(address) - arena_) / kZone;
  List<Block>& blocks = zones_[zone].blocks;
  std::size_t low = 0, high = blocks.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (blocks[middle].begin <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return nullptr;
  Block& block = blocks[low - 1];
  return address < block.begin + block.size || (address == block.begin && block.size == 0) ? &block : nullptr;
}

}  // namespace memfence::running
