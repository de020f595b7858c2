// How far an attack on robustness has come, and how that is written as bytes.
#pragma once

#include <string>
#include <string_view>

#include "certificate/attack_text.hpp"
#include "certificate/layout.hpp"

namespace memfence::certificate {

// The store of `attacker` to `delayed` is pending, with what has to wait behind it. `state` is one of SC: memory as the others
// see it. Of a process that has stopped nothing is kept.
struct Attack {
  int attacker = 0, delayed = 0;
  std::vector<Number> state;
  std::vector<std::pair<int, Number>> pending;  // the newest own store to each variable, in their order
  bool is_separated = false;                    // PSO: behind an sfence; later stores are pending as well
  std::uint64_t stopped = 0, members = 0;       // processes, as bits: who takes no more steps; who of the others took part
  AccessedSets made;                            // in memory since the store, as far as it matters

  bool is_stopped(int process) const { return (stopped >> process & 1) != 0; }
  bool is_member(int process) const { return (members >> process & 1) != 0; }
};

class AttackBytes {
 public:
  // `layout`: of states of SC. `shared`: how many variables are shared.
  AttackBytes(const Layout& layout, int shared)
      : layout_(layout), bytes_of_a_set_((static_cast<std::size_t>(shared) + 7) / 8) {}

  // Unsupported where a value has no place in a row, which no step leads to.
  const std::string& write(const Attack& attack);
  void read(std::string_view bytes, Attack& attack) const;

 private:
  const Layout& layout_;
  std::size_t bytes_of_a_set_;
  std::string bytes_;
};

}  // namespace memfence::certificate
