#include "execution/clocks.hpp"

#include <algorithm>

namespace memfence {

void Clocks::widen(std::vector<Count>& clocks, std::size_t before, std::size_t after) {
  if (before == 0) return;
  std::vector<Count> wider(clocks.size() / before * after, 0);
  for (std::size_t i = 0; i * before < clocks.size(); ++i) std::copy_n(&clocks[i * before], before, &wider[i * after]);
  clocks.swap(wider);
}

}  // namespace memfence
