// How a state stands in a row of a certificate, and where its buffers are. `docs/theory/certificates.md` has the format.
#pragma once

#include "certificate/program.hpp"

namespace memfence::certificate {

constexpr int kMostPending = 64;
constexpr int kMostPendingInRuns = 4096;
constexpr std::size_t kWidestRow = 1024;

// A buffer: at place `first` its length, behind it the entries. An entry is two places (variable, value) where one buffer
// takes all stores of a process; else the value of `variable`, or `separator`. Where no number is left for that, an entry is
// two places as well: 1 for a separator, else 0; and the value.
struct Buffer {
  int first = 0;
  int capacity = 0;
  int variable = -1;
  Number separator = 0;
  bool is_marked = false;

  int places_of_an_entry() const { return variable < 0 || is_marked ? 2 : 1; }
  int columns_of_an_entry() const { return variable < 0 ? 2 : 1; }
  const Number* entry(const Number* state, Number n) const { return state + first + 1 + n * places_of_an_entry(); }
  bool is_separator(const Number* entry) const { return variable >= 0 && (is_marked ? entry[0] != 0 : entry[0] == separator); }
  Number value(const Number* entry) const { return entry[places_of_an_entry() - 1]; }
  void put(Number* state, Number n, int of, Number value, bool separates) const {
    Number* const at = state + first + 1 + n * places_of_an_entry();
    if (places_of_an_entry() == 2) at[0] = variable < 0 ? of : separates;
    at[places_of_an_entry() - 1] = !separates ? value : is_marked ? 0 : separator;
  }
};

class Layout {
 public:
  // Unsupported where states would be too large for the format.
  Layout(const Program& program, const Model& model, int capacity);
  // The same for states that are never written as rows: they may be larger.
  static Layout of_runs(const Program& program, const Model& model, int capacity) { return {program, model, capacity, false}; }

  std::size_t width() const { return width_; }
  int places() const { return places_; }
  const std::vector<Buffer>& buffers(int process) const { return buffers_[static_cast<std::size_t>(process)]; }

  // The state of a row; false if the row is not the one way to write a state.
  bool read(const unsigned char* row, Number* state) const;
  // The row of a state; false if some value has no place in it.
  bool write(const Number* state, unsigned char* row) const;

 private:
  // The numbers `lo` .. `hi`, and one more where `mark` is a place: it stands for a separator.
  struct Column {
    int place;
    Number lo, hi;
    int width;
    int mark = -1;

    bool read(const unsigned char* row, Number* state) const;
    bool write(const Number* state, unsigned char* row) const;
    bool read_marked(const unsigned char* row, Number* state) const;
    bool write_marked(const Number* state, unsigned char* row) const;
    std::uint64_t span() const { return static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo); }
  };
  Layout(const Program& program, const Model& model, int capacity, bool has_rows);
  void add(int place, Number lo, Number hi, int mark = -1);
  void add_buffers(const Program& program, const Model& model, const Process& process, int capacity);

  std::vector<Column> columns_;
  std::vector<std::vector<Buffer>> buffers_;
  std::size_t width_ = 0;
  int places_ = 0;
};

}  // namespace memfence::certificate
