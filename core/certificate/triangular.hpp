// Triangular races: states of SC, each with the newest unfenced store of every process. The conditions of Theorem 10 in
// `docs/theory/certificates.md`, as in `certificates/checker/triangular.py`.
#pragma once

#include <string>

#include "certificate/byte_strings.hpp"
#include "certificate/events.hpp"
#include "certificate/finding.hpp"
#include "certificate/row_set.hpp"

namespace memfence::certificate {

class Triangular {
 public:
  // `program`: canonical text. Unsupported for more than 64 processes.
  explicit Triangular(const std::string& program) : Triangular(read_program(program, {}), read_program(program, kReader)) {}
  // The program as SC reads it, and as TSO does.
  Triangular(Program program, const Program& under_tso);

  std::size_t width() const { return rows_width_; }
  std::size_t states() const { return rows_.size(); }
  std::size_t bytes() const { return rows_.bytes(); }
  // Take over a block of rows, byte planes one behind the other: that of a state, then 4 bytes for each process.
  Finding add(const unsigned char* block, std::size_t size);
  // Check the whole set: first whether it is closed, then whether a pair is a race. Findings have rows without marks.
  Finding check();
  // The rows of all pairs that steps lead to, in order. bad_alloc where they need more than `most_bytes`.
  std::vector<std::string> reachable(std::size_t most_bytes);

  using Pair = std::vector<Number>;  // a state of SC, then the marks: 0, or a variable + 1
  bool is_race(const Pair& pair);
  // Whether nothing of the process is pending behind the step, which is taken in this state.
  bool is_fence(const Step& step, const std::vector<Number>& state) const {
    return reading(step).fences ||
           (program_.lock_at >= 0 && state[static_cast<std::size_t>(program_.lock_at)] == step.process + 1);
  }

 private:
  static constexpr Model kReader{Buffers::PerProcess, 0, false};
  // What TSO makes of a step: does it wait for pending stores, and does it, or the event it begins, work on memory directly?
  struct Reading {
    bool fences, locked;
  };
  const Reading& reading(const Step& step) const {
    return readings_[static_cast<std::size_t>(step.process)][static_cast<std::size_t>(step.number)];
  }
  bool read(const unsigned char* row, Pair& pair) const;
  // The row of a pair that a step may lead to, in `row_`.
  void write(const Number* state, const Number* marks);
  // Every step of a pair: with its outcome and, where it is Done, the row behind it in `row_`. `visit` returns whether to go on.
  template <class Visit>
  bool for_each(const Pair& pair, Visit&& visit);
  void note(const Step& step, const std::vector<Access>& made, Number mark);
  Finding found(Condition condition, const unsigned char* row) const;

  Model sc_{};
  Program program_;
  Layout layout_;
  Steps steps_;
  Events events_;
  std::vector<std::vector<Reading>> readings_;  // by process and transition
  std::size_t rows_width_;
  RowSet rows_;
  std::vector<unsigned char> row_;
  std::vector<Access> made_;
  std::vector<Number> marks_;
  std::vector<std::uint64_t> exposed_, written_;  // by variable: which processes read it with a store behind them, or write it
};

}  // namespace memfence::certificate
