// The vector clocks of threads and addresses: one array for each, so that a clock is a pointer into it.
//
// A component counts the writes of one group (a thread, or its direct writes); tests count loads as well, in a second
// half. All clocks have the same width, which grows with the number of groups.
#pragma once

#include <cstdint>
#include <vector>

namespace memfence {

class Clocks {
 public:
  using Count = std::uint32_t;

  // Of a thread: of its last read, of its last write, of its last event. Of an address: its newest write, all accesses;
  // and both again, for ordinary happens-before.
  enum ThreadClock { kLoads, kStores, kHappens, kThreadClocks };
  enum AddressClock { kNewest, kAll, kHappensWrite, kHappensAll, kAddressClocks };

  explicit Clocks(bool count_loads) : halves_(count_loads ? 2 : 1) {}

  std::size_t groups() const { return stride_; }  // that there is room for
  std::size_t width() const { return stride_ * halves_; }
  std::size_t bytes() const { return (threads_.size() + addresses_.size()) * sizeof(Count); }

  Count* of_thread(std::uint32_t thread, ThreadClock which) {
    return &threads_[(static_cast<std::size_t>(thread) * kThreadClocks + which) * width()];
  }
  const Count* of_thread(std::uint32_t thread, ThreadClock which) const {
    return &threads_[(static_cast<std::size_t>(thread) * kThreadClocks + which) * width()];
  }
  Count* of_address(std::uint32_t address, AddressClock which) {
    return &addresses_[(static_cast<std::size_t>(address) * kAddressClocks + which) * width()];
  }
  const Count* of_address(std::uint32_t address, AddressClock which) const {
    return &addresses_[(static_cast<std::size_t>(address) * kAddressClocks + which) * width()];
  }

  // All clocks of a thread or an address, one behind the other, where the width is known to be W (0: it is not).
  template <std::size_t W>
  Count* of_thread(std::uint32_t thread) {
    return &threads_[std::size_t{thread} * kThreadClocks * (W ? W : width())];
  }
  template <std::size_t W>
  Count* of_address(std::uint32_t address) {
    return &addresses_[std::size_t{address} * kAddressClocks * (W ? W : width())];
  }

  void merge(Count* into, const Count* from) const {
    for (std::size_t i = 0, n = width(); i < n; ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
  }
  void copy(Count* into, const Count* from) const {
    for (std::size_t i = 0, n = width(); i < n; ++i) into[i] = from[i];
  }

  void resize_threads(std::size_t count) { threads_.resize(count * kThreadClocks * width(), 0); }
  void resize_addresses(std::size_t count) { addresses_.resize(count * kAddressClocks * width(), 0); }

  // Give every clock room for `groups` components: what it did not know about is 0.
  void widen(std::size_t groups) {
    widen(threads_, stride_, groups);
    widen(addresses_, stride_, groups);
    stride_ = groups;
  }
  // The same for clocks kept elsewhere, each `before` components a half.
  static void widen(std::vector<Count>& clocks, std::size_t before, std::size_t after);

 private:
  std::size_t halves_;
  std::size_t stride_ = 0;
  std::vector<Count> threads_, addresses_;
};

}  // namespace memfence
