// Memory that is zero, straight from the system: its pages cost nothing until they are touched, by whichever thread does so
// first, and go back as soon as they are freed. Large pieces ask for large pages: a set of visited states is read all over,
// and with pages of four kilobytes most looks into it would miss the processor's table of pages as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace memfence {

class ZeroedMemory {
 public:
  ZeroedMemory() = default;
  explicit ZeroedMemory(std::size_t bytes);  // throws std::bad_alloc
  ZeroedMemory(ZeroedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  ZeroedMemory& operator=(ZeroedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ZeroedMemory();

  std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }
  std::size_t bytes() const { return bytes_; }
  // Give back the pages within, which are no longer needed.
  void release(std::size_t begin, std::size_t end);

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace memfence
