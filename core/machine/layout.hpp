// How a state is packed: each stored slot gets just the bits its range needs, and no field crosses a 64-bit word.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "machine/machine.hpp"

namespace memfence {

using Word = std::uint64_t;

class Layout {
 public:
  explicit Layout(const std::vector<Slot>& slots);

  std::size_t words() const { return words_; }
  std::size_t slots() const { return fields_.size(); }
  std::size_t bits() const { return bits_; }
  // How many bits of a word, from the lowest on, belong to fields; the others are 0.
  unsigned bits_of_word(std::size_t word) const { return used_[word]; }

  void pack(const Value* slots, Word* out) const;
  void unpack(const Word* in, Value* slots) const;

  // Overwrite one field of a packed state; a slot without bits is left alone.
  void write(Word* state, int slot, Value value) const {
    const Field& f = fields_[static_cast<std::size_t>(slot)];
    state[f.word] = (state[f.word] & ~(f.mask << f.shift)) | (((static_cast<Word>(value) - f.lo) & f.mask) << f.shift);
  }
  Value read(const Word* state, int slot) const { return fields_[static_cast<std::size_t>(slot)].read(state); }

  // Where a slot stands in a packed state; a mask of 0 where it has no bits, and is always `lo`.
  struct Field {
    std::uint32_t word = 0;
    std::uint32_t shift = 0;
    Word mask = 0;
    Word lo = 0;  // of a number below 0: what is left of it modulo the size of a word

    Value read(const Word* state) const { return static_cast<Value>(((state[word] >> shift) & mask) + lo); }
  };
  const Field& field(int slot) const { return fields_[static_cast<std::size_t>(slot)]; }

 private:
  // A field together with the slot it belongs to: what unpack walks over, in one piece of memory.
  struct Stored {
    Field field;
    int slot;
  };
  std::vector<Field> fields_;
  std::vector<Stored> stored_;  // of the slots that have bits
  std::vector<Value> fixed_;  // values of the slots without
  std::vector<unsigned> used_{0};
  std::size_t words_ = 1;
  std::size_t bits_ = 0;
};

}  // namespace memfence
