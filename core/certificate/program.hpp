// The program that a certificate is about, read from its canonical text, with every place of a state numbered.
//
// Places: the location of each process, memory, the owner of the bus lock, the registers that are kept between steps, those
// that are not, then the buffers. All but the registers that are not kept are columns of a row, in this order.
#pragma once

#include <optional>

#include "certificate/lists.hpp"

namespace memfence::certificate {

using Number = std::int64_t;

enum class Buffers : std::uint8_t { None, PerProcess, PerVariable };
enum class StoreReading : std::uint8_t { Plain, Separated, Locked };

// A memory model: where stores wait, and for how many there is room. `bound` 0: for any number.
struct Model {
  Buffers buffers = Buffers::None;
  int bound = 0;
  bool per_variable = false;

  StoreReading reading_of_store(const std::string& order) const;
  // "mfence", "sfence", or nothing.
  std::string reading_of_fence(const std::string& kind, const std::string& order) const;
};

struct Domain {
  Number lo = 0, hi = 0;
  bool wraps = false;

  // `value` as it is stored, or false: it lies outside and does not wrap.
  bool fit(Wide value, Number& out) const;
  // How many values there are, as far as that is a number.
  std::size_t size() const;
};

// One node of an expression; operands are numbers of nodes.
struct Node {
  enum class Kind : std::uint8_t {
    Constant,
    Place,
    Memory,
    At,
    Empty,
    Negate,
    Not,
    Complement,
    Conditional,
    And,
    Or,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
  };
  Kind kind = Kind::Constant;
  int a = -1, b = -1, c = -1;
  Number value = 0;            // Constant; Memory: how many variables there are
  int place = 0;               // Place; Memory: the first variable's; At, Empty: the process
  std::vector<char> locations = {};  // At: by number
};

enum class OpKind : std::uint8_t { Load, Store, Modify, Assign, Assume, Assert, Mfence, Sfence, Nothing, Lock, Unlock };
enum class Modification : std::uint8_t { Exchange, Add, Subtract, And, Or, Xor, Nand, Max, Min };

struct Op {
  OpKind kind = OpKind::Nothing;
  int reg = -1;                 // place of the register; -1: none
  int base = 0, size = 0;       // first variable, and how many there are
  int index = -1;               // expressions, -1: none
  int value = -1, when = -1, expected = -1;
  bool direct = false;
  bool is_error = false;        // Assert: its failure is a run-time error, after which runs may go on
  StoreReading reading = StoreReading::Plain;
  Modification modification = Modification::Exchange;
};

struct Meeting {
  std::string channel;
  bool sends = false;
  std::vector<int> values;     // expressions
  std::vector<int> registers;  // places
  std::size_t guard_ops = 0;
};

struct Transition {
  int source = 0, target = 0;
  bool locked = false;     // as the model reads its ops
  bool is_marked = false;  // locked whatever its ops are
  bool takes_bus = false;  // it begins a region, or is one
  std::optional<Meeting> meeting;
  std::vector<Op> ops;
};

struct Location {
  bool committed = false, may_end = false;
};

struct Register {
  Domain domain;
  std::vector<Number> init;
  bool kept = true;
};

struct Process {
  int initial = 0;
  std::vector<Register> registers;
  std::vector<Location> locations;
  std::vector<Transition> transitions;
  std::vector<std::vector<int>> leaving;  // by location: transitions
  std::vector<int> stored;                // variables that it may store to, in order
  std::vector<int> places;                // of the registers
  std::vector<int> scratch;               // places of registers that are not kept
};

struct Variable {
  Domain domain;
  std::vector<Number> init;
};

struct Program {
  std::vector<Variable> variables;
  std::vector<Process> processes;
  std::vector<Node> nodes;
  std::vector<Domain> domains;  // by place, of registers
  std::vector<int> errors;  // where processes are after a run-time error; empty: runs end there
  bool has_lock = false, has_committed = false;
  int memory_at = 0, lock_at = -1, buffers_at = 0;  // places

  // The number of an expression over the whole state, from its canonical text.
  int expression(std::string_view text);
};

// Unsupported if the text is not that of a program, has domains beyond 64 bits or numbers beyond 128.
Program read_program(std::string_view text, const Model& model);

}  // namespace memfence::certificate
