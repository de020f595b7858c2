#include "machine/layout.hpp"

#include <algorithm>
#include <numeric>

namespace memfence {

// Wide fields first, each into the first word that has room: few words, and no field crosses one.
Layout::Layout(const std::vector<Slot>& slots) : fields_(slots.size()), fixed_(slots.size(), 0) {
  std::vector<int> width(slots.size(), 0), by_width;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    fields_[i].lo = static_cast<Word>(slots[i].lo);
    if (!slots[i].stored) continue;
    fixed_[i] = slots[i].lo;
    width[i] = static_cast<int>(std::bit_width(static_cast<Word>(slots[i].hi) - static_cast<Word>(slots[i].lo)));
    if (width[i] > 0) by_width.push_back(static_cast<int>(i));
    bits_ += static_cast<std::size_t>(width[i]);
  }
  std::stable_sort(by_width.begin(), by_width.end(),
                   [&](int a, int b) { return width[static_cast<std::size_t>(a)] > width[static_cast<std::size_t>(b)]; });
  for (const int slot : by_width) {
    const unsigned need = static_cast<unsigned>(width[static_cast<std::size_t>(slot)]);
    std::size_t word = 0;
    while (word < used_.size() && used_[word] + need > 64) ++word;
    if (word == used_.size()) used_.push_back(0);
    Field& f = fields_[static_cast<std::size_t>(slot)];
    f.word = static_cast<std::uint32_t>(word);
    f.shift = used_[word];
    f.mask = need == 64 ? ~Word{0} : (Word{1} << need) - 1;
    used_[word] += need;
    stored_.push_back({f, slot});
  }
  words_ = used_.size();
}

void Layout::pack(const Value* slots, Word* out) const {
  std::fill_n(out, words_, 0);
  for (const Stored& s : stored_) write(out, s.slot, slots[s.slot]);
}

void Layout::unpack(const Word* in, Value* slots) const {
  std::copy(fixed_.begin(), fixed_.end(), slots);
  for (const Stored& s : stored_) slots[s.slot] = s.field.read(in);
}

}  // namespace memfence
