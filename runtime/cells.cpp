#include "cells.hpp"

namespace memfence::running {

namespace {

// Never 0, which marks an empty place.
std::uintptr_t key_of(std::uintptr_t address) { return address / 8 + 1; }
std::size_t hash(std::uintptr_t key) { return (key * 0x9e3779b97f4a7c15u) >> 20; }
constexpr std::int32_t kNone = -1;

}  // namespace

const Cells::Granule* Cells::look(std::uintptr_t key) const {
  if (table_.empty()) return nullptr;
  for (std::size_t i = hash(key);; ++i) {
    const Granule& granule = table_[i & (table_.size() - 1)];
    if (granule.key == key) return &granule;
    if (granule.key == 0) return nullptr;
  }
}

void Cells::grow() {
  List<Granule> before(table_.empty() ? 1024 : table_.size() * 2);
  before.swap(table_);
  for (const Granule& granule : before) {
    if (granule.key == 0) continue;
    std::size_t i = hash(granule.key);
    while (table_[i & (table_.size() - 1)].key != 0) ++i;
    table_[i & (table_.size() - 1)] = granule;
  }
}

Cells::Granule& Cells::make(std::uintptr_t key) {
  if (const Granule* found = look(key)) return const_cast<Granule&>(*found);
  if (2 * ++used_ >= table_.size()) grow();
  std::size_t i = hash(key);
  while (table_[i & (table_.size() - 1)].key != 0) ++i;
  Granule& granule = table_[i & (table_.size() - 1)];
  granule.key = key;
  for (std::int32_t& cell : granule.cells) cell = kNone;
  return granule;
}

// One cell for all bytes from `first` to `last` and for the cells that reach into them: accesses of different sizes that
// overlap are accesses of one cell.
int Cells::merge(Granule& granule, unsigned first, unsigned last) {
  CellState merged;
  const std::uintptr_t base = (granule.key - 1) * 8;
  for (unsigned byte = first; byte <= last; ++byte) {
    if (granule.cells[byte] == kNone) continue;
    const CellState& old = states_[static_cast<std::size_t>(granule.cells[byte])];
    const auto begin = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(old.cell.address) - base);
    first = begin < first ? begin : first;
    last = begin + old.cell.size - 1 > last ? begin + old.cell.size - 1 : last;
    merged.readers |= old.readers;
    merged.writers |= old.writers;
    learned |= old.number >= 0;
  }
  merged.cell = {reinterpret_cast<void*>(base + first), static_cast<std::uint8_t>(last - first + 1)};
  const auto index = static_cast<std::int32_t>(states_.size());
  states_.push_back(merged);
  for (unsigned byte = first; byte <= last; ++byte) granule.cells[byte] = index;
  return index;
}

int Cells::share(CellState& state) {
  learned = true;
  state.number = numbered();
  shared_.push_back(state.cell);
  return state.number;
}

int Cells::touch(void* address, std::size_t size, int thread, bool writes) {
  if (!learns) {
    const int known = find(address, size);
    if (known < 0 && !overlooked) watch(address, size, thread, writes);
    return known;
  }
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const unsigned first = place & 7, last = first + static_cast<unsigned>(size) - 1;
  Granule& granule = make(key_of(place));
  int index = granule.cells[first];
  if (index == kNone || states_[static_cast<std::size_t>(index)].cell.address != address ||
      states_[static_cast<std::size_t>(index)].cell.size != size) {
    const bool inside = index != kNone && granule.cells[last] == index;
    if (!inside) index = merge(granule, first, last);
  }
  return note(states_[static_cast<std::size_t>(index)], thread, writes);
}

// An access of memory that is not known to be shared: is it, now?
void Cells::watch(void* address, std::size_t size, int thread, bool writes) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const unsigned first = place & 7, last = first + static_cast<unsigned>(size) - 1;
  Granule& granule = make(key_of(place));
  CellState* state = nullptr;
  for (unsigned byte = first; byte <= last; ++byte) {
    const std::int32_t index = granule.cells[byte];
    if (index == kNone) continue;
    state = &states_[static_cast<std::size_t>(index)];
    overlooked |= state->number >= 0;
  }
  if (overlooked) return;
  if (state == nullptr || state->cell.address != address || state->cell.size != size)
    state = &states_[static_cast<std::size_t>(merge(granule, first, last))];
  (writes ? state->writers : state->readers) |= std::uint64_t{1} << thread;
  const std::uint64_t all = state->readers | state->writers;
  overlooked = state->writers != 0 && (all & (all - 1)) != 0;
}

int Cells::note(CellState& state, int thread, bool writes) {
  (writes ? state.writers : state.readers) |= std::uint64_t{1} << thread;
  if (state.number >= 0) return state.number;
  const std::uint64_t all = state.readers | state.writers;
  if (state.writers == 0 || (all & (all - 1)) == 0) return -1;
  return share(state);
}

int Cells::find(const void* address, std::size_t size) const {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const Granule* granule = look(key_of(place));
  if (granule == nullptr) return -1;
  const std::int32_t index = granule->cells[place & 7];
  if (index == kNone || granule->cells[(place & 7) + size - 1] != index) return -1;
  return states_[static_cast<std::size_t>(index)].number;
}

void Cells::free_block(char* block, std::size_t size, int thread, List<NumberedAccess>& into) {
  int last = -1;
  for (std::size_t at = 0; at < size; at += 8) {
    const Granule* granule = look(key_of(reinterpret_cast<std::uintptr_t>(block + at)));
    if (granule == nullptr) continue;
    for (const std::int32_t index : granule->cells) {
      if (index == kNone || index == last) continue;
      last = index;
      CellState& state = states_[static_cast<std::size_t>(index)];
      const int number = learns ? note(state, thread, true) : state.number;
      overlooked |= !learns && number < 0 && ((state.readers | state.writers) & ~(std::uint64_t{1} << thread)) != 0;
      if (number >= 0) into.push_back({AccessKind::Store, number});
    }
  }
  each_object(block, block + size, into);
}

void Cells::each_object(const char* begin, const char* end, List<NumberedAccess>& into) const {
  for (const Object& known : objects_)
    if (known.object >= begin && known.object < end) into.push_back({AccessKind::Store, known.number});
}

void Cells::lose(const char* begin, const char* end, int thread, List<NumberedAccess>& into) {
  const auto lies_there = [&](const void* address) { return address >= begin && address < end; };
  const std::uint64_t others = ~(std::uint64_t{1} << thread);
  if (learns)
    for (CellState& state : states_)
      if (lies_there(state.cell.address) && ((state.readers | state.writers) & others) != 0) note(state, thread, true);
  for (int number = 0; number < numbered(); ++number)
    if (lies_there(shared(number).address)) into.push_back({AccessKind::LockedStore, number});
}

void Cells::expect(void* address, std::size_t size) {
  if (size == 0) {
    shared_.push_back({address, 0});
    return;
  }
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  const auto first = static_cast<unsigned>(place & 7);
  share(states_[static_cast<std::size_t>(merge(make(key_of(place)), first, first + static_cast<unsigned>(size) - 1))]);
}

int Cells::synchronisation(const void* object, int kind, int thread) {
  for (Object& known : objects_) {
    if (known.object != object || known.kind != kind) continue;
    if (known.thread < 0) known.thread = thread;
    known.is_shared |= thread >= 0 && known.thread != thread;
    if (known.is_shared && known.is_taken_for_own) {
      known.is_taken_for_own = false;
      learned = true;
    }
    return known.number;
  }
  objects_.push_back({object, kind, numbered(), thread});
  shared_.push_back({const_cast<void*>(object), 0});
  return objects_.back().number;
}

bool Cells::is_own(const void* object, int kind, int thread) {
  synchronisation(object, kind, thread);
  for (Object& known : objects_)
    if (known.object == object && known.kind == kind) return known.is_taken_for_own = !known.is_shared;
  return false;
}

}  // namespace memfence::running
