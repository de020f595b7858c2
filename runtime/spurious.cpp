// What the environment may do to a thread that nobody asked for, and which of it has to be tried.
//
// A wait may end without a signal, and a weak compare-exchange may fail though it could succeed. Each is a way on that the
// explorer tries. In most programs it only leads round a loop, and then trying it further would be in vain: a thread that
// comes back to where it was, knowing what it knew, with nothing written in between, might as well have stayed there. All
// that others do in the meantime, and all that the thread does afterwards, is met in executions in which it did. So, after
// something spurious, the thread is watched until it is known whether it is back. It is, if its next step is
//  * after a failure or a wake-up at a futex: a load that it has made before, in the same state, with no change since;
//  * after a wake-up at a condition variable: the first load that it made since it took the mutex, likewise. It might as
//    well have taken the mutex later;
//  * after a failure: the same compare-exchange in the same state, perhaps behind one load of the same cell, if what the
//    failed one has left in `expected` was overwritten before anybody looked. If nothing else changes the cell, nothing
//    has happened; and if something does, the compare-exchange might as well have failed because of that;
//  * after a wake-up: the same wait in the same state, behind one load, or behind loads of cells that are written under the
//    mutex only. It might as well have slept on until these cells change.
// A mutex that somebody tries, instead of waiting for it, shows that a thread has looked around: there, all is tried.
//
// Everything else that is spurious happens up to a bound, which the verdict names: so many times at each place, to each
// thread, in each execution.
#include "mutex.hpp"
#include "signalling.hpp"

namespace memfence::running {

bool World::may_choose(int id, int choice) const {
  const Fiber& fiber = *fibers_[id];
  const Wish& wish = fiber.wish;
  if (fiber.state != Fiber::State::Running || choice < 1 || choice > wish.whims) return false;
  if (simulates && !fiber.buffer.empty() && wish.locked()) return false;
  switch (wish.whim) {
    case Whim::None: return false;
    case Whim::WakeUp: return !is_signalled(fiber) && (wish.mutex == nullptr || static_cast<Mutex*>(wish.mutex)->owner == 0);
    case Whim::Failure: return wish.cell.read() == wish.expected;
  }
  return false;
}

std::size_t World::possible_steps(int (&steps)[4 * kMostFibers]) const {
  std::size_t count = 0;
  for (int id = 0; id < known_threads(); ++id) {
    if (is_done(id)) continue;
    if (is_ready(id)) steps[count++] = id;
    for (int choice = 1; choice < 3; ++choice)
      if (may_choose(id, choice)) steps[count++] = id + choice * kMostFibers;
  }
  return count;
}

bool World::has_false_assumption() const {
  for (int id = 0; id < known_threads(); ++id)
    if (!is_done(id) && !is_unborn(id) && fibers_[id]->wish.is_void) return true;
  return false;
}

bool World::is_void() const {
  if (has_false_assumption()) return true;
  for (int id = 0; id < known_threads(); ++id)
    if (!is_done(id) && !is_unborn(id) && !is_ready(id) && fibers_[id]->wish.spins_after_whim) return true;
  return false;
}

void World::watch_use(const void* address, std::size_t size, bool writes) {
  Probe& probe = current->probe;
  if (probe.expected == nullptr || probe.use != Probe::Use::None) return;
  const auto* begin = static_cast<const char*>(address);
  if (begin >= probe.expected + probe.cell.size || probe.expected >= begin + size) return;
  const bool is_whole = begin <= probe.expected && probe.expected + probe.cell.size <= begin + size;
  probe.use = writes && is_whole ? Probe::Use::Overwritten : Probe::Use::Read;
}

// A thread that waits, or is about to take another step.
void World::judge(Fiber& me) {
  if (me.probe.whim == Whim::None) return;
  if (const Return back = prunes ? returns(me) : Return::None; back != Return::None) {
    me.probe = Probe{};
    if (explores) leads_back = back;
    return;
  }
  const bool looks = me.wish.what == Wish::What::Access && me.wish.kind == AccessKind::Load && me.changes == me.probe.changes;
  if (looks && (me.probe.mutex != nullptr || me.probe.steps == 0)) {
    ++me.probe.steps;
    return;
  }
  give_up_probe(me);
}

// It matters. Once too often, and it is not followed.
void World::give_up_probe(Fiber& me) {
  const Probe probe = me.probe;
  me.probe = Probe{};
  int before = -1;
  for (SpuriousCount& known : me.spurious)
    if (known.site == probe.site) before = known.count++;
  if (before < 0) me.spurious.push_back({probe.site, 1});
  if (!explores || (before < 0 ? 0 : before) < most_spurious) return;
  leads_back = Return::Always;
  (probe.whim == Whim::WakeUp ? has_more_wake_ups : has_more_failures) = true;
}

Return World::returns(const Fiber& me) {
  const Probe& probe = me.probe;
  const Wish& wish = me.wish;
  if (me.changes != probe.changes) return Return::None;
  const bool is_first = probe.steps == 0, was_here = wish.spins && !wish.spins_roughly;
  if (is_first && was_here) return Return::Always;
  if (probe.whim == Whim::Failure) {
    if (wish.whim != Whim::Failure || wish.cell.address != probe.cell.address || wish.state != probe.state) return Return::None;
    const bool is_delayed =
        probe.steps == 1 && probe.use == Probe::Use::Overwritten && me.seen.back().cell.address == probe.cell.address;
    return is_first || is_delayed ? Return::Always : Return::None;
  }
  const bool sleeps_again = wish.object == probe.object && wish.mutex == probe.mutex && wish.state == probe.state;
  if (probe.mutex == nullptr) return sleeps_again || was_here ? Return::Unchanged : Return::None;
  if (!guards.is_never_tried(probe.mutex)) return Return::None;
  if (is_first && wish.what == Wish::What::Access && me.checked.pc == wish.pc && me.checked.cell.address == wish.cell.address) {
    if (me.checked.state == 0 && !loops_at(wish.pc)) learn_loop(wish.pc);
    return me.checked.state != 0 && me.checked.state == wish.state ? Return::Always : Return::None;
  }
  if (!sleeps_again) return Return::None;
  for (const Seen& seen : me.seen)
    if (me.seen.size() > 1 && seen.number >= 0 && !guards.is_written_under(seen.number, probe.mutex)) return Return::None;
  return Return::Unchanged;
}

}  // namespace memfence::running
