#include "certificate/attack.hpp"

namespace memfence::certificate {

namespace {

// Seven bits a byte, the lowest first; the highest bit says that more follow.
void put(std::string& bytes, std::uint64_t value) {
  for (; value > 0x7F; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

std::uint64_t get(const unsigned char*& at) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    value |= static_cast<std::uint64_t>(*at & 0x7F) << shift;
    if ((*at++ & 0x80) == 0) return value;
  }
}

// Small numbers of either sign stay small.
std::uint64_t folded(Number value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return bits << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0);
}
Number unfolded(std::uint64_t bits) { return static_cast<Number>(bits >> 1 ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0)); }

}  // namespace

const std::string& AttackBytes::write(const Attack& attack) {
  bytes_.resize(layout_.width());
  if (!layout_.write(attack.state.data(), reinterpret_cast<unsigned char*>(bytes_.data())))
    throw Unsupported("a state on an attack has no row");
  put(bytes_, static_cast<std::uint64_t>(attack.attacker));
  put(bytes_, static_cast<std::uint64_t>(attack.delayed));
  put(bytes_, attack.stopped);
  put(bytes_, attack.members);
  for (const SharedSet* set : {&attack.made.read, &attack.made.written})
    for (std::size_t n = 0; n < bytes_of_a_set_; ++n) bytes_.push_back(static_cast<char>(set->words[n / 8] >> (8 * (n % 8))));
  put(bytes_, 2 * attack.pending.size() + (attack.is_separated ? 1 : 0));
  for (const auto& [variable, value] : attack.pending) {
    put(bytes_, static_cast<std::uint64_t>(variable));
    put(bytes_, folded(value));
  }
  return bytes_;
}

void AttackBytes::read(std::string_view bytes, Attack& attack) const {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  attack.state.resize(static_cast<std::size_t>(layout_.places()));
  layout_.read(at, attack.state.data());
  at += layout_.width();
  attack.attacker = static_cast<int>(get(at));
  attack.delayed = static_cast<int>(get(at));
  attack.stopped = get(at);
  attack.members = get(at);
  attack.made = {};
  for (SharedSet* set : {&attack.made.read, &attack.made.written})
    for (std::size_t n = 0; n < bytes_of_a_set_; ++n) set->words[n / 8] |= std::uint64_t{*at++} << (8 * (n % 8));
  const std::uint64_t pending = get(at);
  attack.is_separated = (pending & 1) != 0;
  attack.pending.clear();
  for (std::uint64_t n = 0; n < pending / 2; ++n) {
    const int variable = static_cast<int>(get(at));
    attack.pending.emplace_back(variable, unfolded(get(at)));
  }
}

}  // namespace memfence::certificate
