// Between the explorer of execution graphs and what executes threads: unrolled code (code_executor.hpp), or a program that
// runs.
//
// The explorer keeps an execution graph: what each thread has done, from which write each read reads, in which order writes
// reached each location. It decides what reads return; memory plays no part in that. The executor runs threads, one action
// at a time, and never knows which memory model is explored. So the contract is about single threads:
//
// * A thread stands before its next action (`next`) until the explorer lets it `take` it. What it does next depends on what
//   its own reads and choices returned so far, and on nothing else: asked again in the same place, it gives the same answer.
//   What it sees of memory that is not reported must follow from that, too: see plain accesses below.
// * Locations are numbered by the executor as they are met, and never change their number as long as the exploration goes
//   on, resets included. Two accesses have the same location or do not overlap. The explorer asks for the `initial` value
//   of a location when it is accessed first: what memory holds there if nothing reported has written it.
// * Threads are numbered likewise. A thread that is not created yet has the action None; when it is created is decided by
//   the creator's actions. Creation should also be seen by the model: the creator writes (release), and the new thread first
//   reads (acquire), a location of its own. Likewise its end, which whoever joins it waits for, as below.
//
// Reads. Where the action is a read, `take(thread, value)` makes it return this value. Before that the explorer asks for its
// `outlook(thread, value)`, for any value that is in the graph, as often as it likes; that changes nothing.
//
// The thread *blocks* on a value if it would then do nothing more than wait for another one. Locks that are taken, joins of
// threads that run, loops that only wait (awaits) are such reads: a round of the loop that ends where it began. The explorer
// never lets a thread take a value on which it blocks. It leaves the thread where it is, as a read that reads from nowhere
// yet (`kNowhere`), and hands it the value of a later write that does not block. An executor that does not know may say that
// the thread does not block: then there are more executions, and none is lost. It must say the same for the same thread
// after the same values. A thread that waits for several locations blocks on the last of its reads.
//
// A read-modify-write is two actions: its read, whose outlook says that it *updates*, then its write at the same location
// (`Action::is_update`), which must be the thread's next action. A compare-exchange that fails is no more than a read, with
// the order that the outlook gives. One that may fail for no reason begins with a choice.
//
// Plain accesses (order 0). Under RC11 a plain access that races is a finding, and one that does not can see one write
// only; so under RC11 a plain read never branches. The explorer reports races by the clocks of the graph. Under SC and TSO
// a plain access is like any other. An executor need not report accesses to memory that one thread alone uses. Those of
// memory with real contents (a program that runs) may go to that memory as well: the explorer lets events be taken in an
// order that extends happens-before, so what memory holds is what the graph says, as long as nothing races.
//
// Following. Most of the time the graph grows by what a thread has just taken. But the explorer also goes back, leaves out
// some of what a thread did last, changes what its last read reads, and has other threads go on. It then says `follow(graph)`:
// stand where exactly the taken events of the graph (`ExecutionGraph::taken`) have been taken, with the values that are in
// it. Of each thread the first `settled` events are those that it has taken already. An executor that can drop the last
// actions of a thread drops those behind them, and takes the rest; one that cannot begins anew and takes all events, in the
// order of `replay_order`. The explorer calls it only where it then asks for something (`next`, `outlook`) or lets something
// be taken: one execution costs one `follow`, more or less.
//
// Ends. Ended, Waiting, Void, Cut, Failed and Over are final: the thread has no further action in this execution; the others
// go on, though (a void execution may become another one, when a read is changed). A Failed thread is a finding; the explorer
// then lets the other threads read the newest values until all have come to an end, so that the execution can be judged as a
// whole. An executor that cannot go on after a failure (a crash) gives every thread the action Ended then.
//
// News. An executor that finds out that locations are others than it thought says so (`has_learned`); whatever it was asked
// is asked again, from the beginning, after `reset`.
//
// The explorer hands what it finds to a `Listener`.
#pragma once

#include <concepts>

#include "graphs/execution_graph.hpp"

namespace memfence::graphs {

template <class E>
concept Executor = requires(E e, const E c, int thread, int location, Value value, const ExecutionGraph& graph) {
  { c.threads() } -> std::same_as<int>;              // that there are, as far as is known; it may grow
  { c.locations() } -> std::same_as<int>;            // that have been met, likewise
  { c.has_learned() } -> std::same_as<bool>;
  { c.initial(location) } -> std::same_as<Value>;
  e.reset();                                         // nothing has been taken
  { e.next(thread) } -> std::same_as<Action>;
  { e.outlook(thread, value) } -> std::same_as<Outlook>;  // only before a read
  e.take(thread, value);                             // value: what a read returns, which way a choice goes; else 0
  e.follow(graph);
};

// How an execution ended. `waits`: a thread waits; whether for ever is the listener's matter, since a thread that waits may
// wait for several locations (`is_stuck`: no thread would go on with the newest value of what it read last). `race`: two
// events that race, or none. An execution is complete if nobody waits and it is neither void nor cut; the others are blocked.
struct Ending {
  bool failed = false, waits = false, is_stuck = false, is_void = false, is_cut = false;
  EventId race[2] = {kNoEvent, kNoEvent};
  bool races() const { return race[0] != kNoEvent; }
  bool is_complete() const { return !waits && !is_void && !is_cut; }
};

// `begin`: what was told before does not count, it will all be told again. `ended`: an execution has come to its end; what it
// returns says whether to go on.
template <class L>
concept Listener = requires(L l, const ExecutionGraph& graph, const Ending& ending) {
  l.begin();
  { l.ended(graph, ending) } -> std::same_as<bool>;
};

}  // namespace memfence::graphs
