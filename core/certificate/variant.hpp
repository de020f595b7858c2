// A program with the fences of some sites only: what the run of a clause is one of. `variant` in
// `certificates/checker/minimum.py` says the same.
#pragma once

#include <map>

#include "certificate/program.hpp"

namespace memfence::certificate {

// Where one edit of the text puts its fences: behind the steps `places`, (process, transition), or it locks them. `is_chosen`: the
// program has them, and `places` are these fences themselves.
struct Site {
  enum class Kind : std::uint8_t { Mfence, Sfence, Locked };
  Kind kind = Kind::Mfence;
  std::vector<std::pair<int, int>> places;
  bool is_chosen = false;
};

struct Variant {
  Program program;
  std::map<std::pair<int, int>, int> passing;  // places before a fence, (process, location), and where it leads to
};

// `program`, which has the fences of the chosen sites, with those of the sites that are `made`, by number, instead. None where it has
// not the fences of the chosen sites. Places exist.
std::optional<Variant> variant(Program program, const std::vector<Site>& sites, const std::vector<char>& made);

}  // namespace memfence::certificate
