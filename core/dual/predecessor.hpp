// Minimal predecessors of a constraint under the dual semantics.
//
// The rules of the dual semantics, backwards, for the FIFO b' of the process that moves:
//   propagate   b' = u.(x,mem[x]), not own             -> u
//   delete      x not owned in b'                       -> (x,v,own).b'
//   read (x,v)  x owned: its value must be v            -> b' (that is a silent step here)
//               else                                    -> b' if (x,v) heads it, else (x,v).b'
//   write (x,v) mem[x] = v, b' = u.(x,v,own)            -> u, or u with an older (x,w,own) inserted; mem[x] is then open
//   fence       b' empty; locked step: likewise, works on memory
// A message may hold several variables: the loads of one atomic step see one moment.
//
// Three things keep the number of constraints small.
// * Memory is only as known as it has to be. A message of unknown memory fixes the value when it is propagated away.
// * Propagate and delete are not steps of their own. Where memory is known to hold what the newest message of a FIFO
//   says, dropping the message gives something smaller, so that is done at once. Else propagating waits until it matters:
//   until some step changes a variable that this message, or an older one behind it, speaks about, or needs the FIFO
//   empty. Deleting waits for the next load or store of its process. Neither is ever disabled by waiting.
// * A step that changes nothing but its process's control state (a fence while the FIFO is empty; a load of what memory
//   holds while the FIFO is empty, or of the message at its head) adds to the set of control states instead.
// Partial order (`reduce`): a process that can only have loaded last, and has not always been where it is, has one of
// these loads in every run. Backwards they can be undone first: a load touches nothing but the old end of its own FIFO,
// and a message there can wait as long as it likes. Then the other processes need not move at all for now. Since the run
// to be found ends up at the start of this process, too, its load is never put off for ever: no cycle proviso is needed.
// Any number of processes of one kind (`unbounded`):
// * A process that the constraint does not mention may have taken the last step. It is of interest only if that step wrote
//   memory, and it may be anywhere afterwards, with nothing pending: it could have deleted what it owned.
// * A part that may be at its start, with an empty FIFO, is dropped: if the rest can be reached by some number of
//   processes, the whole can by one more, which has not moved yet.
#pragma once

#include <functional>

#include "dual/constraint.hpp"

namespace memfence::dual {

struct Model {
  Instances instances;
  LocalGraphs local;
  Messages messages;
  std::vector<ProcessGraph> graphs;
  std::vector<Sets> sets;
};

// A part that was dropped, since it may be at its start.
struct Dropped {
  int part;  // its place among all parts before any was dropped
  int kind;
  Set set;
};

// Which step led from a predecessor to its constraint: a label of a part, before which so many owned messages were put
// back in front. The part behind the last one of the constraint: a process that it does not mention, of kind `newcomer`.
// Parts keep their places; those that are `dropped` are missing from the predecessor.
struct Made {
  int part = -1, label = -1, undeleted = 0;
  int newcomer = -1;
  std::vector<Dropped> dropped;
};

class Predecessors {
 public:
  using Emit = std::function<void(Constraint&&)>;

  Predecessors(Model& model, bool reduce);

  // Everything from which one step leads to something above `c`.
  void of(const Constraint& c, const Emit& emit);
  // Any process of the kind with nothing pending, wherever it is.
  Set anywhere(int kind) const { return anywhere_[static_cast<std::size_t>(kind)]; }
  // Apply what can be applied without loss. False if nothing satisfies the constraint.
  bool normalise(Constraint& c);
  // Whether an initial configuration lies above `c`.
  bool is_initial(const Constraint& c);
  // Propagate all messages away where nothing is owned; false if memory cannot hold them all.
  bool empty_fifos(Constraint& c);
  // How the predecessor that is being emitted was made.
  const Made& made() const { return made_; }
  // Emit as little as possible from now on: what is emitted is not wanted any more.
  void stop() { stopped_ = true; }

 private:
  bool must_load(const Constraint& c, int p);
  void moves(const Constraint& c, int p, int deleted, const Emit& emit);
  void read(const Constraint& c, int p, const Sets::Move& move, const Emit& emit);
  void write(const Constraint& c, int p, const Sets::Move& move, const Emit& emit);
  void write_exposed(const Constraint& c, int p, int label, const Emit& emit);
  void fenced(const Constraint& c, int p, const Sets::Move& move, const Emit& emit);
  void locked_exposed(const Constraint& c, int p, int label, const Emit& emit);
  void load_before(Constraint& c, int p, const Label& label, const Emit& emit);

  // All ways to propagate messages away so that some that speak about one of `changed` go.
  void expose(const Constraint& c, const Facts& changed, int from, const Emit& emit);
  bool empty_last_word(Constraint& c, int p);
  void drop_known_messages(Constraint& c);
  void drop_starting_parts(Constraint& c);
  bool is_starting(const Constraint& c, int p);
  void saturate(Constraint& c, int p);

  bool learn(Constraint& c, const Facts& facts);
  bool learn(Constraint& c, const Fact& fact);
  void forget(Constraint& c, int variable);
  bool is_known(const Constraint& c, const Facts& facts) const;

  Sets& sets(const Constraint& c, int p) { return model_.sets[static_cast<std::size_t>(c.kinds[static_cast<std::size_t>(p)])]; }
  const Role& role(int variable) const { return model_.local.roles.of[static_cast<std::size_t>(variable)]; }

  Model& model_;
  bool reduce_;
  std::vector<Set> anywhere_;  // per kind
  Made made_;
  bool stopped_ = false;
};

}  // namespace memfence::dual
