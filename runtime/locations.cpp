#include "locations.hpp"

namespace memfence::running {

namespace {

constexpr std::int32_t kNobody = -1;
constexpr std::uint32_t kMostAccesses = 20'000;  // by one thread: it may wait there for another one

std::uintptr_t word_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address) / 8 + 1; }
std::size_t place_of_word(std::uintptr_t key) { return (key * 0x9e3779b97f4a7c15u) >> 20; }

}  // namespace

Locations::Word* Locations::look(std::uintptr_t key) {
  if (table_.empty()) return nullptr;
  for (std::size_t i = place_of_word(key);; ++i) {
    Word& word = table_[i & (table_.size() - 1)];
    if (word.key == key) return &word;
    if (word.key == 0) return nullptr;
  }
}

void Locations::grow() {
  List<Word> before(table_.empty() ? 1024 : table_.size() * 2);
  before.swap(table_);
  for (const Word& word : before) {
    if (word.key == 0) continue;
    std::size_t i = place_of_word(word.key);
    while (table_[i & (table_.size() - 1)].key != 0) ++i;
    table_[i & (table_.size() - 1)] = word;
  }
}

Locations::Word& Locations::make(std::uintptr_t key) {
  if (Word* found = look(key)) return *found;
  if (2 * ++used_ >= table_.size()) grow();
  std::size_t i = place_of_word(key);
  while (table_[i & (table_.size() - 1)].key != 0) ++i;
  Word& word = table_[i & (table_.size() - 1)];
  word.key = key;
  for (std::int32_t& byte : word.bytes) byte = kNobody;
  return word;
}

// A location of just these bytes. Those that it was part of keep their other bytes.
std::int32_t Locations::cut_out(Word& word, unsigned first, unsigned last, Cells& numbers) {
  const std::uintptr_t base = (word.key - 1) * 8;
  Location made;
  made.cell = {reinterpret_cast<void*>(base + first), static_cast<std::uint8_t>(last - first + 1)};
  for (unsigned byte = first; byte <= last; ++byte) {
    if (word.bytes[byte] == kNobody) continue;
    const Location& old = locations_[static_cast<std::size_t>(word.bytes[byte])];
    made.readers |= old.readers;
    made.writers |= old.writers;
    numbers.learned |= old.number >= 0;
  }
  const auto rest = [&](unsigned from, unsigned to, std::int32_t old) {
    Location part = locations_[static_cast<std::size_t>(old)];
    part.cell = {reinterpret_cast<void*>(base + from), static_cast<std::uint8_t>(to - from + 1)};
    part.number = -1;
    locations_.push_back(part);
    for (unsigned byte = from; byte <= to; ++byte) word.bytes[byte] = static_cast<std::int32_t>(locations_.size() - 1);
  };
  const std::int32_t before = word.bytes[first], behind = word.bytes[last];
  unsigned begin = first, end = last;
  while (before != kNobody && begin > 0 && word.bytes[begin - 1] == before) --begin;
  while (behind != kNobody && end < 7 && word.bytes[end + 1] == behind) ++end;
  if (begin < first) rest(begin, first - 1, before);
  if (end > last) rest(last + 1, end, behind);
  locations_.push_back(made);
  const auto index = static_cast<std::int32_t>(locations_.size() - 1);
  for (unsigned byte = first; byte <= last; ++byte) word.bytes[byte] = index;
  return index;
}

void Locations::note(Location& location, int thread, bool writes, Cells& numbers) {
  (writes ? location.writers : location.readers) |= std::uint64_t{1} << thread;
  if (location.number >= 0) return;
  const std::uint64_t all = location.readers | location.writers;
  const bool is_shared = location.is_atomic || (location.writers != 0 && (all & (all - 1)) != 0);
  if (!is_shared && ++location.accesses < kMostAccesses) return;
  location.number = numbers.add(location.cell);
}

bool Locations::touch(char* address, std::size_t size, int thread, bool writes, bool is_atomic, Cells& numbers,
                      List<Part>& into) {
  Word& word = make(word_of(address));
  const auto first = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) & 7);
  const unsigned last = first + static_cast<unsigned>(size) - 1;
  const auto is_whole = [&](std::int32_t index) {
    const Location& location = locations_[static_cast<std::size_t>(index)];
    return location.cell.address == address && location.cell.size == size;
  };
  if (is_atomic) {
    std::int32_t index = word.bytes[first];
    if (index == kNobody || !is_whole(index)) {
      for (unsigned byte = first; byte <= last; ++byte)
        if (word.bytes[byte] != kNobody && locations_[static_cast<std::size_t>(word.bytes[byte])].is_atomic) return false;
      index = cut_out(word, first, last, numbers);
    }
    Location& location = locations_[static_cast<std::size_t>(index)];
    location.is_atomic = true;
    note(location, thread, writes, numbers);
    into.push_back({address, size, location.number, location.cell});
    return true;
  }
  const auto base = reinterpret_cast<char*>((word.key - 1) * 8);
  for (unsigned byte = first; byte <= last;) {
    unsigned end = byte;
    while (end < last && word.bytes[end + 1] == word.bytes[byte]) ++end;
    std::int32_t index = word.bytes[byte];
    const bool is_part = index != kNobody && (locations_[static_cast<std::size_t>(index)].cell.size != end - byte + 1);
    if (index == kNobody || (is_part && !locations_[static_cast<std::size_t>(index)].is_atomic))
      index = cut_out(word, byte, end, numbers);
    Location& location = locations_[static_cast<std::size_t>(index)];
    note(location, thread, writes, numbers);
    into.push_back({base + byte, end - byte + 1, location.number, location.cell});
    byte = end + 1;
  }
  return true;
}

void Locations::lose(char* begin, std::size_t size, int thread, Cells& numbers, List<Part>& into) {
  const std::uint64_t others = ~(std::uint64_t{1} << thread);
  const auto end_at = [&](std::int32_t index) {
    Location& location = locations_[static_cast<std::size_t>(index)];
    auto* place = static_cast<char*>(location.cell.address);
    if (place < begin || place >= begin + size || ((location.readers | location.writers) & others) == 0) return;
    note(location, thread, true, numbers);
    if (location.number >= 0) into.push_back({place, location.cell.size, location.number, location.cell});
  };
  if (size / 8 > locations_.size()) {  // the stack of a thread
    for (std::size_t n = 0; n < locations_.size(); ++n) {
      const auto* place = static_cast<const char*>(locations_[n].cell.address);
      const Word* word = place >= begin && place < begin + size ? look(word_of(place)) : nullptr;
      const auto index = static_cast<std::int32_t>(n);
      if (word != nullptr && word->bytes[reinterpret_cast<std::uintptr_t>(place) & 7] == index) end_at(index);
    }
    return;
  }
  for (std::size_t at = 0; at < size + 7; at += 8) {
    const Word* word = look(word_of(begin + at));
    for (unsigned byte = 0; word != nullptr && byte < 8; ++byte) {
      const std::int32_t index = word->bytes[byte];
      if (index != kNobody && (byte == 0 || word->bytes[byte - 1] != index)) end_at(index);
    }
  }
}

}  // namespace memfence::running
