#include "search/zeroed_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace memfence {

namespace {

constexpr std::size_t kPage = std::size_t{1} << 12, kLargePage = std::size_t{1} << 21;
constexpr std::size_t kFromSystem = 16 * kPage;   // smaller pieces are not worth a call
constexpr std::size_t kInLarge = 4 * kLargePage;  // smaller pieces are not worth large pages

// What is mapped for a piece: the system puts whole large pages where they can be large.
std::size_t mapped(std::size_t bytes) { return bytes < kInLarge ? bytes : (bytes + kLargePage - 1) / kLargePage * kLargePage; }

}  // namespace

ZeroedMemory::ZeroedMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes < kFromSystem) {
    data_ = std::calloc(bytes, 1);
    if (!data_) throw std::bad_alloc();
    return;
  }
  data_ = mmap(nullptr, mapped(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (bytes >= kInLarge) madvise(data_, mapped(bytes), MADV_HUGEPAGE);
#endif
}

ZeroedMemory::~ZeroedMemory() {
  if (bytes_ < kFromSystem)
    std::free(data_);
  else
    munmap(data_, mapped(bytes_));
}

void ZeroedMemory::release(std::size_t begin, std::size_t end) {
  if (bytes_ < kFromSystem) return;
  begin = (begin + kPage - 1) / kPage * kPage;
  end = end / kPage * kPage;
  if (begin < end) madvise(data() + begin, end - begin, MADV_DONTNEED);
}

}  // namespace memfence
