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

void Layout::add(int place, Number lo, Number hi) {
  const unsigned __int128 span = static_cast<unsigned __int128>(static_cast<__int128>(hi) - lo);
  int width = 1;
  while (width < 8 && (span >> (8 * width)) != 0) width *= 2;
  columns_.push_back({place, lo, hi, width});
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
      if (domain(v).hi == INT64_MAX) throw Unsupported("a variable leaves no number for separators");
      own.push_back({places_, capacity, v, domain(v).hi + 1});
      add(places_++, 0, capacity);
      for (int n = 0; n < capacity; ++n) add(places_++, domain(v).lo, domain(v).hi + 1);
    }
  }
}

bool Layout::read(const unsigned char* row, Number* state) const {
  std::fill_n(state, places_, 0);
  for (const Column& column : columns_) {
    std::uint64_t offset = 0;
    for (int n = 0; n < column.width; ++n) offset = offset << 8 | *row++;
    if (offset > static_cast<std::uint64_t>(column.hi) - static_cast<std::uint64_t>(column.lo)) return false;
    state[column.place] = static_cast<Number>(static_cast<std::uint64_t>(column.lo) + offset);
  }
  // Behind the end of a buffer stand the least values, and in a working state zeros.
  std::size_t at = columns_.size();
  for (auto own = buffers_.rbegin(); own != buffers_.rend(); ++own)
    for (auto buffer = own->rbegin(); buffer != own->rend(); ++buffer) {
      const int entry = buffer->places_of_an_entry(), used = static_cast<int>(state[buffer->first]) * entry;
      at -= static_cast<std::size_t>(buffer->capacity * entry);
      for (int n = used; n < buffer->capacity * entry; ++n) {
        const Column& column = columns_[at + static_cast<std::size_t>(n)];
        if (state[column.place] != column.lo) return false;
        state[column.place] = 0;
      }
      --at;
    }
  return true;
}

bool Layout::write(const Number* state, unsigned char* row) const {
  std::size_t at = columns_.size();
  for (const std::vector<Buffer>& own : buffers_)
    for (const Buffer& buffer : own) at -= static_cast<std::size_t>(1 + buffer.capacity * buffer.places_of_an_entry());
  const auto put = [&](const Column& column, Number value) {
    if (value < column.lo || value > column.hi) return false;
    const std::uint64_t offset = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(column.lo);
    for (int n = column.width - 1; n >= 0; --n) *row++ = static_cast<unsigned char>(offset >> (8 * n));
    return true;
  };
  for (std::size_t n = 0; n < at; ++n)
    if (!put(columns_[n], state[columns_[n].place])) return false;
  for (const std::vector<Buffer>& own : buffers_)
    for (const Buffer& buffer : own) {
      if (!put(columns_[at++], state[buffer.first])) return false;
      const int entry = buffer.places_of_an_entry(), used = static_cast<int>(state[buffer.first]) * entry;
      for (int n = 0; n < buffer.capacity * entry; ++n, ++at)
        if (!put(columns_[at], n < used ? state[columns_[at].place] : columns_[at].lo)) return false;
    }
  return true;
}

}  // namespace memfence::certificate
