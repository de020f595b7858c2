// The states of a machine under a memory model, as words: how they are packed, and what leads from one to the next.
#pragma once

#include "search/state_set.hpp"
#include "search/successors.hpp"
#include "search/symmetry.hpp"

namespace memfence {

template <MemoryModel Semantics>
class Space {
 public:
  Space(const Machine& m, Semantics semantics, bool reduce)
      : machine_(m),
        semantics_(std::move(semantics)),
        layout_(semantics_.slots),
        successors_(machine_, semantics_, reduce),
        symmetry_(machine_, semantics_) {}
  Space(const Space&) = delete;

  const Machine& machine() const { return machine_; }
  const Layout& layout() const { return layout_; }
  std::size_t words() const { return layout_.words(); }
  const Symmetry& symmetry() const { return symmetry_; }

  // The packed state becomes the working one.
  void load(const Word* state, Work& work) const {
    layout_.unpack(state, work.data());
    semantics_.derive(work);
    work.settle();
  }
  template <class Sink>
  void expand(Work& work, Sink& sink) const {
    successors_.expand(work, sink);
  }
  // A successor is its parent with the fields in the log.
  void pack_successor(const Word* parent, const Work& work, Word* out) const {
    copy_words(parent, out, layout_.words());
    for (const Work::Change& change : work.log()) layout_.write(out, change.slot, work[change.slot]);
  }

  // Initial state number `number`, in canonical order, in `work` and packed; `who` as in Symmetry.
  std::vector<Word> initial(std::size_t number, Work& work, std::vector<int>* who = nullptr) const {
    std::fill_n(work.data(), layout_.slots(), 0);
    std::copy(machine_.initial[number].begin(), machine_.initial[number].end(), work.data());
    symmetry_.canonicalise(work, who);
    work.settle();
    std::vector<Word> state(layout_.words(), 0);
    layout_.pack(work.data(), state.data());
    return state;
  }

  bool is_halted(const Work& w) const {
    for (std::size_t p = 0; p < machine_.processes.size(); ++p)
      if (!machine_.is_halted(static_cast<int>(p), w[machine_.processes[p].location_slot])) return false;
    return true;
  }
  bool is_drained(const Work& w) const {
    for (std::size_t p = 0; p < machine_.processes.size(); ++p)
      if (!semantics_.drained(w, static_cast<int>(p))) return false;
    return true;
  }

 private:
  const Machine& machine_;
  Semantics semantics_;
  Layout layout_;
  Successors<Semantics> successors_;
  Symmetry symmetry_;
};

}  // namespace memfence
