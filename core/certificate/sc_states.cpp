#include "certificate/sc_states.hpp"

#include <new>

#include "certificate/initial.hpp"

namespace memfence::certificate {

ScStates::ScStates(const Program& program, std::size_t most_bytes)
    : program_(program), layout_(program_, sc_, 0), steps_(program_, sc_, layout_), row_(layout_.width()) {
  search(most_bytes);
}

void ScStates::search(std::size_t most_bytes) {
  std::vector<Number> state(static_cast<std::size_t>(layout_.places()));
  const auto visit = [&](const Number* next) {
    if (!layout_.write(next, row_.data())) throw Unsupported("a state of SC has no row");
    reached_.insert({reinterpret_cast<const char*>(row_.data()), row_.size()});
    if (reached_.bytes() > most_bytes) throw std::bad_alloc();
    return true;
  };
  for_each_initial(program_, state.size(), visit);
  for (std::size_t n = 0; n < reached_.size(); ++n) {
    layout_.read(reinterpret_cast<const unsigned char*>(reached_.at(n).data()), state.data());
    steps_.for_each(state.data(), [&](const Step&, Outcome outcome, const Number* after) {
      return outcome != Outcome::Done || visit(after);
    });
  }
}

bool ScStates::contains(const Number* state) {
  return layout_.write(state, row_.data()) && reached_.contains({reinterpret_cast<const char*>(row_.data()), row_.size()});
}

}  // namespace memfence::certificate
