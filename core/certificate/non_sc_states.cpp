#include "certificate/non_sc_states.hpp"

namespace memfence::certificate {

NonScStates::NonScStates(const std::string& program, const Model& model, int capacity, std::size_t most_bytes)
    : program_(read_program(program, Model{})), layout_(program_, model, capacity), reached_(program_, most_bytes) {}

bool NonScStates::refuses(const Number* state, std::optional<Step>&) {
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p)
    for (const Buffer& buffer : layout_.buffers(p))
      if (state[buffer.first] != 0) return false;
  return !reached_.contains(state);
}

}  // namespace memfence::certificate
