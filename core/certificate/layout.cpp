#include "certificate/layout.hpp"

#include <algorithm>

namespace memfence::certificate {

Layout::Layout(const Program& program, const Model& model, int capacity) : Layout(program, model, capacity, true) {}

Layout::Layout(const Program& program, const Model& model, int capacity, bool has_rows) {
  const int most = has_rows ? kMostPending : kMostPendingInRuns;
  if (capacity < 0 || capacity > most) throw Unsupported("buffers of that length are not allowed");
  for (std::size_t p = 0; p < program.processes.size(); ++p)
    add(static_cast<int>(p), 0, static_cast<Number>(program.processes[p].locations.size()) - 1);
  for (std::size_t v = 0; v < program.variables.size(); ++v)
    add(program.memory_at + static_cast<int>(v), program.variables[v].domain.lo, program.variables[v].domain.hi);
  if (program.has_lock) add(program.lock_at, 0, static_cast<Number>(program.processes.size()));
  for (const Process& p : program.processes)
    for (std::size_t n = 0; n < p.registers.size(); ++n)
      if (p.registers[n].kept) add(p.places[n], p.registers[n].domain.lo, p.registers[n].domain.hi);
  places_ = program.buffers_at;
  for (const Process& p : program.processes) add_buffers(program, model, p, capacity);
  if (has_rows && width_ > kWidestRow) throw Unsupported("states are too large");
}

void Layout::add(int place, Number lo, Number hi, int mark) {
  const WideBits most = static_cast<WideBits>(Wide{hi} - lo) + (mark < 0 ? 0 : 1);
  int width = 1;
  while (width < 8 && (most >> (8 * width)) != 0) width *= 2;
  if (width == 8 && (most >> 64) != 0) ++width;
  columns_.push_back({place, lo, hi, width, mark});
  width_ += static_cast<std::size_t>(width);
}

void Layout::add_buffers(const Program& program, const Model& model, const Process& process, int capacity) {
  std::vector<Buffer>& own = buffers_.emplace_back();
  const auto domain = [&](int variable) { return program.variables[static_cast<std::size_t>(variable)].domain; };
  if (model.buffers == Buffers::PerProcess) {
    const int room = process.stored.empty() ? 0 : capacity;
    own.push_back({places_, room, -1, 0});
    add(places_++, 0, room);
    if (room == 0) return;
    Number lo = domain(process.stored[0]).lo, hi = domain(process.stored[0]).hi;
    for (const int v : process.stored) {
      lo = std::min(lo, domain(v).lo);
      hi = std::max(hi, domain(v).hi);
    }
    for (int n = 0; n < room; ++n) {
      add(places_++, 0, static_cast<Number>(program.variables.size()) - 1);
      add(places_++, lo, hi);
    }
  } else if (model.buffers == Buffers::PerVariable) {
    for (const int v : process.stored) {
      const bool is_marked = domain(v).hi == INT64_MAX;
      own.push_back({places_, capacity, v, is_marked ? 0 : domain(v).hi + 1, is_marked});
      add(places_++, 0, capacity);
      for (int n = 0; n < capacity; ++n) {
        if (is_marked)
          add(places_ + 1, domain(v).lo, domain(v).hi, places_);
        else
          add(places_, domain(v).lo, domain(v).hi + 1);
        places_ += own.back().places_of_an_entry();
      }
    }
  }
}

// Most columns are plain and have one byte, and most of the time goes into them.
inline bool Layout::Column::read(const unsigned char* row, Number* state) const {
  if (mark >= 0) return read_marked(row, state);
  std::uint64_t offset = *row;
  for (int n = 1; n < width; ++n) offset = offset << 8 | row[n];
  if (offset > span()) return false;
  state[place] = static_cast<Number>(static_cast<std::uint64_t>(lo) + offset);
  return true;
}

inline bool Layout::Column::write(const Number* state, unsigned char* row) const {
  if (mark >= 0) return write_marked(state, row);
  const std::uint64_t offset = static_cast<std::uint64_t>(state[place]) - static_cast<std::uint64_t>(lo);
  if (offset > span()) return false;
  for (int n = width - 1; n > 0; --n) *row++ = static_cast<unsigned char>(offset >> (8 * n));
  *row = static_cast<unsigned char>(offset);
  return true;
}

// The number behind the greatest one is a separator; it may have 9 bytes.
bool Layout::Column::read_marked(const unsigned char* row, Number* state) const {
  WideBits offset = 0;
  for (int n = 0; n < width; ++n) offset = offset << 8 | row[n];
  if (offset > WideBits{span()} + 1) return false;
  if (offset > span())
    state[mark] = 1;
  else
    state[place] = static_cast<Number>(static_cast<std::uint64_t>(lo) + static_cast<std::uint64_t>(offset));
  return true;
}

bool Layout::Column::write_marked(const Number* state, unsigned char* row) const {
  WideBits offset = static_cast<std::uint64_t>(state[place]) - static_cast<std::uint64_t>(lo);
  if (state[mark] != 0)
    offset = WideBits{span()} + 1;
  else if (offset > span())
    return false;
  for (int n = width - 1; n >= 0; --n) *row++ = static_cast<unsigned char>(offset >> (8 * n));
  return true;
}

bool Layout::read(const unsigned char* row, Number* state) const {
  std::fill_n(state, places_, 0);
  for (const Column& column : columns_) {
    if (!column.read(row, state)) return false;
    row += column.width;
  }
  // Behind the end of a buffer stand the least values, and in a working state zeros.
  std::size_t at = columns_.size();
  for (auto own = buffers_.rbegin(); own != buffers_.rend(); ++own)
    for (auto buffer = own->rbegin(); buffer != own->rend(); ++buffer) {
      const int entry = buffer->columns_of_an_entry(), used = static_cast<int>(state[buffer->first]) * entry;
      at -= static_cast<std::size_t>(buffer->capacity * entry);
      for (int n = used; n < buffer->capacity * entry; ++n) {
        const Column& column = columns_[at + static_cast<std::size_t>(n)];
        if (state[column.place] != column.lo || (column.mark >= 0 && state[column.mark] != 0)) return false;
        state[column.place] = 0;
      }
      --at;
    }
  return true;
}

bool Layout::write(const Number* state, unsigned char* row) const {
  std::size_t at = columns_.size();
  for (const std::vector<Buffer>& own : buffers_)
    for (const Buffer& buffer : own) at -= static_cast<std::size_t>(1 + buffer.capacity * buffer.columns_of_an_entry());
  const auto put = [&](const Column& column) {
    const bool has_room = column.write(state, row);
    row += column.width;
    return has_room;
  };
  for (std::size_t n = 0; n < at; ++n)
    if (!put(columns_[n])) return false;
  for (const std::vector<Buffer>& own : buffers_)
    for (const Buffer& buffer : own) {
      if (!put(columns_[at++])) return false;
      const int entry = buffer.columns_of_an_entry(), used = static_cast<int>(state[buffer.first]) * entry;
      for (int n = 0; n < buffer.capacity * entry; ++n, ++at) {
        if (n < used && !put(columns_[at])) return false;
        if (n >= used) row = std::fill_n(row, columns_[at].width, static_cast<unsigned char>(0));
      }
    }
  return true;
}

}  // namespace memfence::certificate
