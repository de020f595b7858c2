// Every way to choose one value from each of several lists.
#pragma once

#include <algorithm>
#include <vector>

namespace memfence::certificate {

// How many ways there are to choose; `most` + 1 where there are more than `most`.
inline std::size_t ways_to_choose(const std::vector<std::size_t>& sizes, std::size_t most) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  unsigned __int128 count = 1;
  for (const std::size_t size : sizes) {
    count *= size;
    if (count > most) return most + 1;
  }
  return static_cast<std::size_t>(count);
}

// The odometer: the last list turns fastest. `visit` gets the positions of the chosen values and returns whether to go on; so
// does this. No choice at all where a list is empty, one where there are no lists.
template <class Visit>
bool for_each_choice(const std::vector<std::size_t>& sizes, const Visit& visit) {
  for (const std::size_t size : sizes)
    if (size == 0) return true;
  std::vector<std::size_t> chosen(sizes.size(), 0);
  while (true) {
    if (!visit(chosen)) return false;
    std::size_t n = sizes.size();
    while (n > 0 && ++chosen[n - 1] == sizes[n - 1]) chosen[--n] = 0;
    if (n == 0) return true;
  }
}

}  // namespace memfence::certificate
