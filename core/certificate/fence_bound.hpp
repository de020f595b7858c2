// Whether a choice of sites that meets all clauses costs less: the plain search of `certificates/checker/minimum.py`.
#pragma once

#include <cstdint>
#include <vector>

namespace memfence::certificate {

constexpr std::size_t kMostNodes = 200'000;

enum class Bound : std::uint8_t { Met, Missed, TooManyChoices };

// Clauses are numbers of sites, each once; every site has a price, above 0. Met: no choice of sites that has one of each clause costs
// at most `money`. TooManyChoices: nobody knows.
Bound check_fence_bound(const std::vector<std::vector<int>>& clauses, const std::vector<std::int64_t>& prices,
                        std::int64_t money);

}  // namespace memfence::certificate
