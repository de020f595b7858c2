// Every state that SC reaches: a lower bound cannot be certified by a set, so it is searched.
#pragma once

#include "certificate/byte_strings.hpp"
#include "certificate/steps.hpp"

namespace memfence::certificate {

class ScStates {
 public:
  // `program`: as SC reads it; it has to stay. bad_alloc where its states need more than `most_bytes`.
  ScStates(const Program& program, std::size_t most_bytes);

  // Whether SC reaches the state, whatever is in the buffers: places up to them are the same under every model.
  bool contains(const Number* state);

 private:
  void search(std::size_t most_bytes);

  Model sc_{};
  const Program& program_;
  Layout layout_;
  Steps steps_;
  std::vector<unsigned char> row_;
  ByteStrings reached_;
};

}  // namespace memfence::certificate
