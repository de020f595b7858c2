// One part of a search that several machines share.
//
// Every state belongs to the partition that its hash names. All partitions go through the search in rounds: take in what
// the others have found, turn to the next level once everybody has finished the present one, expand some of its states,
// and leave a message for every other partition. Each message says how much of the level is left at its sender, so that
// all turn in the same round without being told.
//
// A message is { states of the level left, states in it } as two words, then the states, then for each the number of its
// parent, which the sender keeps. Whether a state was sent already is known for the last few thousands of them only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "attacks/criteria.hpp"
#include "search/exploration.hpp"
#include "search/observer.hpp"

namespace memfence {

// How far a partition has come.
struct PartProgress {
  std::uint64_t level = 1;  // that is being expanded
  std::uint64_t size = 0;   // its states that belong here,
  std::uint64_t left = 0;   // and those of them that are not expanded yet
  std::uint64_t states = 0, transitions = 0, refused = 0, bytes = 0, state_bits = 0;
  std::uint64_t found_in = 0;  // the first level in which something was found here; 0: none yet
  Stop stop = Stop::None;
};

using Finals = std::map<std::vector<Value>, SafetyObserver::Seen>;

// Where the parent of a state is kept; index kNoIndex: it is an initial state.
struct Origin {
  int owner;
  Index index;
};

// From `first` on, states came from `sender`.
struct Arrival {
  Index first;
  int sender;
};

// Everything but the states that is needed to go on after a level: what was counted and seen so far.
struct Counted {
  PartProgress progress;
  std::vector<Arrival> arrivals;
  Finals finals;
};

struct PartitionSize {
  int number, count;          // which of how many
  std::uint64_t round_states;  // expand about so many states a round
};

class Partition {
 public:
  virtual ~Partition() = default;

  // The initial states that belong here: once, before the first round.
  virtual void begin() = 0;
  // A round: every message, then turn(), expand(), and a message for each other partition.
  virtual void receive(int sender, std::string_view message) = 0;
  // Go on to the next level, if all have finished this one. Whether that was so.
  virtual bool turn() = 0;
  virtual void expand() = 0;
  virtual std::size_t message_size(int owner) const = 0;
  // Writes the message, and forgets it.
  virtual void write_message(int owner, char* out) = 0;

  virtual const PartProgress& progress() const = 0;
  virtual const std::optional<Finding>& finding() const = 0;
  // What a search for races found.
  virtual std::optional<Race> race() const = 0;
  // What a search for attacks found, all in the level `found_in` if that is one.
  virtual std::vector<Attack> attacks() = 0;

  virtual std::size_t words() const = 0;
  virtual std::string_view state(Index index) const = 0;
  virtual Origin parent(Index index) const = 0;
  // See PathFinder; the states of the chain need not belong here.
  virtual Path path(const std::vector<const Word*>& chain, const std::vector<Step>& more) const = 0;

  // Checkpoints, right after a turn: rows of states with their parents, and what was counted. restore() takes all rows in
  // order, resume() the rest, in place of begin().
  virtual std::size_t row_size() const = 0;
  virtual void write_rows(Index begin, Index end, char* out) const = 0;
  virtual void restore(std::string_view rows) = 0;
  virtual Counted counted() const = 0;
  virtual void resume(const Counted& counted) = 0;
};

std::unique_ptr<Partition> partition_for_safety(std::shared_ptr<const Machine> machine, const Model& model, bool reduce,
                                                const SafetyQuery& query, const PartitionSize& size,
                                                std::uint64_t memory_bytes);
// As explore_races.
std::unique_ptr<Partition> partition_for_races(std::shared_ptr<const Machine> machine, bool triangular,
                                               const PartitionSize& size, std::uint64_t memory_bytes);
// As explore_attacks; all processes move. A search that collects attacks cannot be resumed.
std::unique_ptr<Partition> partition_for_attacks(std::shared_ptr<const Machine> machine, AttackSearch search,
                                                 const PartitionSize& size, std::uint64_t memory_bytes);

}  // namespace memfence
