// The compiled program: what engines/encode.py hands over, ready to run. It knows no memory model.
//
// Slots number everything that makes up a state: first the shared variables, then, if lock regions with cycles exist, the
// owner of the bus lock (0 = free, p + 1), then for each process its location, the number of its pending stores, and its
// registers. A memory model appends the slots of its buffers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/expression.hpp"

namespace memfence {

// The values a slot can hold. A slot that is not `stored` is scratch space: 0 between steps, absent from packed states.
struct Slot {
  Value lo = 0, hi = 0;
  bool wraps = false;
  bool stored = true;

  bool fit(Wide value, Value& out) const {
    const Value low = static_cast<Value>(value);
    if (low == value && low >= lo && low <= hi) [[likely]] {
      out = low;
      return true;
    }
    if (wraps) out = wrapped(value);
    return wraps;
  }

 private:
  Value wrapped(Wide value) const;
};

enum class OpKind : std::int32_t { Load, Store, Assign, Assume, Assert, Mfence, Sfence, Lock, Unlock };

// One op. `process` owns it (the two sides of a rendezvous are one list of ops); a `locked` op works on memory directly.
struct Op {
  OpKind kind;
  int process;
  bool locked;
  int slot;    // Load, Assign: the register
  int base;    // Load, Store: first variable of the array
  int size;    // and how many there are
  int index;   // expression: which element
  int value;   // expression: Store, Assign: the value; Assume, Assert: the condition
  int when;    // expression, or -1: Load only where it is true
  int part;    // which of the transitions that were fused into the edge it comes from
};

struct Edge {
  int process;
  int source, target;
  bool locked;
  int partner;  // a rendezvous also moves this process, else -1
  int partner_source, partner_target;
  bool partner_locked;
  std::vector<Op> ops;
  std::vector<int> origin;  // numbers of the transitions that were fused into this edge, in order

  // How many ops, from the first, make up everything up to the transition with the last access. A step of the loaded
  // program is possible wherever these are: local steps that were fused behind it may block without taking it back.
  int required;
};

// How a location may be used by partial order reduction: see engines/encode.py, which proves it.
enum class Private : std::uint8_t { No, Always, WhenDrained };

struct Process {
  int location_slot;
  int pending_slot;
  int locations;
  int registers;  // their slots follow pending_slot
  std::vector<int> edges;             // numbers of the edges it starts
  std::vector<int> stored_variables;  // those it may store to, in order
  std::vector<int> scratch_slots;
  std::vector<std::uint8_t> is_private;  // per location: Private
  std::vector<std::uint8_t> committed;   // per location
  bool uses_sfence;
};

struct Machine {
  std::vector<Slot> slots;
  int variables;
  int lock_slot;  // -1: no lock region is left
  std::vector<Expression> expressions;
  std::vector<Edge> edges;
  std::vector<Process> processes;
  std::vector<std::vector<Value>> initial;  // one value a slot, as many as there are initial states
  bool has_committed;
  std::vector<std::vector<int>> symmetric;  // classes of processes with the same code
  std::vector<Value> error;  // the state that every run-time error leads to, where runs go on (DVE); else empty
  std::vector<int> failed;   // where not empty: the location at which a process that fails stays, with its registers reset

  // Delay bounding, where `most_delays` is not negative: see Successors. Slots of variables.
  int turn_slot = -1, delays_slot = -1, most_delays = -1;

  // Computed by finish().
  std::vector<std::vector<std::vector<int>>> leaving;  // [process][location]: edges
  void finish();

  // The variable that a load or store means, if its index is a constant within bounds; else -1.
  int only_variable(const Op& op) const {
    const Expression& index = expressions[static_cast<std::size_t>(op.index)];
    const bool is_one = index.is_constant() && index.constant() >= 0 && index.constant() < op.size;
    return is_one ? op.base + static_cast<int>(index.constant()) : -1;
  }

  // The edge of `process` that matches `edge` of an identical process.
  int matching_edge(int edge, int process) const;

  bool is_halted(int process, Value location) const {
    return halted_[static_cast<std::size_t>(process)][static_cast<std::size_t>(location)] != 0;
  }

 private:
  std::vector<std::vector<std::uint8_t>> halted_;
};

}  // namespace memfence
