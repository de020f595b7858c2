#include "search/zeroed_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace memfence {

namespace {

constexpr std::size_t kPage = std::size_t{1} << 12, kLargePage = std::size_t{1} << 21;
constexpr std::size_t kFromSystem = 16 * kPage;  // smaller pieces are not worth a call

}  // namespace

ZeroedMemory::ZeroedMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes < kFromSystem) {
    data_ = std::calloc(bytes, 1);
    if (!data_) throw std::bad_alloc();
    return;
  }
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (bytes >= 4 * kLargePage) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
}

ZeroedMemory::~ZeroedMemory() {
  if (bytes_ < kFromSystem)
    std::free(data_);
  else
    munmap(data_, bytes_);
}

}  // namespace memfence
