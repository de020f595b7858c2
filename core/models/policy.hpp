// What a memory model is to a search: the policy that every file in this folder meets.
//
// A model is a value. It lays out the slots of its buffers behind the machine's own, runs steps (MemoryPolicy), and adds
// what memory does by itself. It holds no state of its own: all there is to know about a state of the program stands in
// the slots, so that a search may copy the model, share it between threads, and pack, hash and compare states as words.
// Buffers are kept in one canonical form (oldest entry first, unused places 0): equal states are then equal words.
#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "machine/execute.hpp"

namespace memfence {

// What memory holds back, and does by itself.
template <class Model>
concept StoreBuffers = requires(const Model& model, Work& work, int process, int buffer, int number, void (*emit)(int)) {
  // The machine's slots, with the ranges that the pending slots need here, then those of the buffers.
  { model.slots } -> std::convertible_to<std::vector<Slot>>;
  // Fill in the slots that are not stored in packed states: called whenever a state was unpacked.
  model.derive(work);
  // Call emit(number) for every step that memory can take by itself for the process, with the successor in `work`. What
  // is left in `work` afterwards is undone by the caller.
  model.background(work, process, emit);
  // Whether that step takes an entry from that buffer: fairness asks, and a process may have several buffers.
  { model.drains(number, process, buffer) } -> std::same_as<bool>;
  { model.is_buffer_empty(work, process, buffer) } -> std::same_as<bool>;
  // The first slot of the process's buffers, and how many there are: symmetry exchanges them.
  { model.buffer_slots(process) } -> std::same_as<std::pair<int, int>>;
};

template <class Model>
concept MemoryModel = std::copy_constructible<Model> && MemoryPolicy<const Model> && StoreBuffers<Model>;

}  // namespace memfence
