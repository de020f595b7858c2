#include "leaks.hpp"

#include <cstring>

#include "arena.hpp"
#include "pages.hpp"

namespace memfence::running {

namespace {

constexpr std::size_t kMostLeaks = 16, kMostSignatures = 256;

// What static variables lead to, directly or by way of other blocks. Every word that could be a pointer counts as one.
class Reached {
 public:
  void scan(const char* begin, std::size_t size) {
    for (std::size_t at = 0; at + sizeof(void*) <= size; at += sizeof(void*)) {
      void* word = nullptr;
      std::memcpy(&word, begin + at, sizeof(word));
      if (is_in_arena(word)) add(block_at(word));
    }
  }
  void scan_blocks() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) scan(blocks_[i]->begin, blocks_[i]->size);
  }
  bool contains(const Block* block) const {
    for (const Block* one : blocks_)
      if (one == block) return true;
    return false;
  }

 private:
  void add(const Block* block) {
    if (block != nullptr && !block->is_freed && !contains(block)) blocks_.push_back(block);
  }
  std::vector<const Block*> blocks_;
};

}  // namespace

bool Leaks::is_new(std::size_t signature) {
  for (const std::size_t known : signatures_)
    if (known == signature) return false;
  if (signatures_.size() >= kMostSignatures) return false;
  signatures_.push_back(signature);
  return true;
}

void Leaks::look(const std::vector<int>& steps) {
  std::vector<const Block*> left;
  std::size_t signature = 0;
  each_block([&](const Block& block) {
    if (block.is_freed || !is_program_code(block.pc)) return;
    left.push_back(&block);
    signature = signature * 31 + reinterpret_cast<std::size_t>(block.pc) + block.size;
  });
  if (left.empty() || !is_new(signature)) return;
  Reached reached;
  each_written_page([&](const char* page, std::size_t size) { reached.scan(page, size); });
  reached.scan_blocks();
  for (const Block* block : left) {
    if (reached.contains(block) || all.size() >= kMostLeaks) continue;
    bool known = false;
    for (const Leak& leak : all) known |= leak.pc == block->pc;
    if (!known) all.push_back({block->pc, block->size, steps});
  }
}

}  // namespace memfence::running
