// Machine and what it is made of.
#include "machine/machine.hpp"

#include "bind.hpp"

namespace memfence::bind {

void bind_machine(nb::module_& m) {
  using Numbers = std::vector<int>;
  using Flags = std::vector<std::uint8_t>;

  nb::class_<Slot>(m, "Slot").def(nb::init<Value, Value, bool, bool>(), "lo"_a, "hi"_a, "wraps"_a, "stored"_a);

  nb::class_<Op>(m, "Op").def(
      "__init__",
      [](Op* op, int kind, int process, bool locked, int slot, int base, int size, int index, int value, int when, int part) {
        new (op) Op{static_cast<OpKind>(kind), process, locked, slot, base, size, index, value, when, part};
      },
      "kind"_a, "process"_a, "locked"_a, "slot"_a, "base"_a, "size"_a, "index"_a, "value"_a, "when"_a, "part"_a);

  nb::class_<Edge>(m, "Edge").def(nb::init<int, int, int, bool, int, int, int, bool, std::vector<Op>, Numbers, int>(),
                                  "process"_a, "source"_a, "target"_a, "locked"_a, "partner"_a, "partner_source"_a,
                                  "partner_target"_a, "partner_locked"_a, "ops"_a, "origin"_a, "required"_a);

  nb::class_<Process>(m, "Process")
      .def(nb::init<int, int, int, int, Numbers, Numbers, Numbers, Flags, Flags, bool>(), "location_slot"_a, "pending_slot"_a,
           "locations"_a, "registers"_a, "edges"_a, "stored_variables"_a, "scratch_slots"_a, "is_private"_a, "committed"_a,
           "uses_sfence"_a);

  nb::class_<Machine>(m, "Machine")
      .def(
          "__init__",
          [](Machine* machine, std::vector<Slot> slots, int variables, int lock_slot,
             std::vector<std::vector<Value>> expressions, std::vector<Edge> edges, std::vector<Process> processes,
             std::vector<std::vector<Value>> initial, bool has_committed, std::vector<std::vector<int>> symmetric,
             std::vector<Value> error) {
            new (machine) Machine{};
            machine->slots = std::move(slots);
            machine->variables = variables;
            machine->lock_slot = lock_slot;
            for (auto& code : expressions) machine->expressions.emplace_back(std::move(code));
            machine->edges = std::move(edges);
            machine->processes = std::move(processes);
            machine->initial = std::move(initial);
            machine->has_committed = has_committed;
            machine->symmetric = std::move(symmetric);
            machine->error = std::move(error);
            machine->finish();
          },
          "slots"_a, "variables"_a, "lock_slot"_a, "expressions"_a, "edges"_a, "processes"_a, "initial"_a, "has_committed"_a,
          "symmetric"_a, "error"_a)
      .def_rw("failed", &Machine::failed)
      .def_rw("turn_slot", &Machine::turn_slot)
      .def_rw("delays_slot", &Machine::delays_slot)
      .def_rw("most_delays", &Machine::most_delays);
}

}  // namespace memfence::bind
