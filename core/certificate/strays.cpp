#include "certificate/strays.hpp"

#include <new>

#include "certificate/initial.hpp"

namespace memfence::certificate {

Strays::Strays(const std::string& program, const Model& model, int capacity, std::size_t most_bytes)
    : model_(model),
      program_(read_program(program, sc_)),
      layout_(program_, model_, capacity),
      plain_(program_, sc_, 0),
      steps_(program_, sc_, plain_),
      row_(plain_.width()) {
  search(most_bytes);
}

void Strays::search(std::size_t most_bytes) {
  std::vector<Number> state(static_cast<std::size_t>(plain_.places()));
  const auto visit = [&](const Number* next) {
    if (!plain_.write(next, row_.data())) throw Unsupported("a state of SC has no row");
    reached_.insert({reinterpret_cast<const char*>(row_.data()), row_.size()});
    if (reached_.bytes() > most_bytes) throw std::bad_alloc();
    return true;
  };
  for_each_initial(program_, state.size(), visit);
  for (std::size_t n = 0; n < reached_.size(); ++n) {
    plain_.read(reinterpret_cast<const unsigned char*>(reached_.at(n).data()), state.data());
    steps_.for_each(state.data(), [&](const Step&, Outcome outcome, const Number* after) {
      return outcome != Outcome::Done || visit(after);
    });
  }
}

bool Strays::refuses(const Number* state, std::optional<Step>&) {
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p)
    for (const Buffer& buffer : layout_.buffers(p))
      if (state[buffer.first] != 0) return false;
  // Places up to the buffers are the same under every model.
  return !plain_.write(state, row_.data()) || !reached_.contains({reinterpret_cast<const char*>(row_.data()), row_.size()});
}

}  // namespace memfence::certificate
