// One part of the search for an accepted infinite run that several machines share: OWCTY, "one way catch them young"
// (Fisler et al. 2001; distributed by Cerna and Pelanek 2003, as in DiVinE), for marks on arcs.
//
// First all states of the product are found. Then, as long as something changes, states are given up that cannot come
// after a cycle with all marks: in a phase of trimming those without a predecessor, one after the other; in a phase of
// marking those that some mark never comes before. What is left in the end is empty, or follows such a cycle: going
// backwards within it, every mark comes again and again.
//
// Phases consist of rounds, as in partition.hpp. Messages bring states, with the number of the parent or with marks.
#pragma once

#include "cluster/partition.hpp"
#include "search/emptiness.hpp"

namespace memfence {

enum class CyclePhase : std::int32_t { Reach, Trim, Mark, Link };

struct CycleProgress {
  std::uint64_t size = 0, left = 0;  // states to expand in this level, and those that are left
  std::uint64_t level = 1;
  std::uint64_t alive = 0;  // states that are not given up
  std::uint64_t states = 0, transitions = 0, refused = 0, bytes = 0, state_bits = 0;
  Stop stop = Stop::None;
};

// An arc into a state, from a state that may be kept elsewhere.
struct ArcFrom {
  int owner;
  Index index;
  std::uint64_t marks;
};

class CyclePart {
 public:
  virtual ~CyclePart() = default;

  // A phase begins; Reach comes first, Link (once, at last) notes predecessors among what is left.
  virtual void start(CyclePhase phase) = 0;
  virtual void receive(int sender, std::string_view message) = 0;
  // Whether a new level begins.
  virtual bool turn() = 0;
  virtual void expand() = 0;
  virtual std::size_t message_size(int owner) const = 0;
  virtual void write_message(int owner, char* out) = 0;
  virtual const CycleProgress& progress() const = 0;

  // The first state that is left; kNoIndex: there is none.
  virtual Index first_alive() const = 0;
  // After Link: the arcs into a state, from states that are left.
  virtual const std::vector<ArcFrom>& arcs_into(Index index) const = 0;
  virtual std::string_view state(Index index) const = 0;
  virtual Origin parent(Index index) const = 0;
  virtual std::size_t words() const = 0;

  // The number of the initial state, and the steps along a chain of states, by arcs that have at least these marks.
  virtual std::size_t start_of(const Word* state) = 0;
  virtual LassoStep step_between(const Word* from, const Word* to, std::uint64_t marks) = 0;
};

std::unique_ptr<CyclePart> part_for_cycles(std::shared_ptr<const Machine> machine, const Model& model, bool reduce,
                                           BuchiQuery query, const PartitionSize& size, std::uint64_t memory_bytes);

}  // namespace memfence
