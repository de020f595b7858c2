// How a thread ends, and how the process does: by a status, or with its last thread.
#include "exits.hpp"
#include "graph_stops.hpp"
#include "pages.hpp"
#include "world.hpp"

namespace memfence::running {

namespace {

bool has_finished(const Fiber& me) { return static_cast<const Fiber*>(me.wish.object)->state == Fiber::State::Done; }

}  // namespace

bool World::is_last() const {
  for (int id = 0; id < created_ids_end_; ++id)
    if (fibers_[id] != current && fibers_[id]->state == Fiber::State::Running) return false;
  return true;
}

// Others may use the thread's variables until then: it is a step that writes those that they know.
void World::lose_variables(Fiber& me) {
  me.freed.clear();
  if (makes_graphs) {
    graph_lose(me.stack, me.stack_size, "end of the thread's variables", nullptr);
    if (me.variables != nullptr)
      graph_lose(variables_begin(me.variables), static_cast<std::size_t>(me.variables - variables_begin(me.variables)),
                 "end of the thread's variables", nullptr);
  } else if (!is_alone()) {
    cells.lose(me.stack, me.stack + me.stack_size, me.id, me.freed);
    if (me.variables != nullptr) cells.lose(variables_begin(me.variables), me.variables, me.id, me.freed);
  }
  if (!me.freed.empty()) {
    Wish wish;
    wish.what = Wish::What::Access;
    wish.kind = AccessKind::LockedStore;
    wish.number = me.freed[0].number;
    wish.name = "end of the thread's variables";
    stop(wish);
    me.freed.clear();
  }
  me.is_gone = true;
}

void World::finish(void* result) {
  Fiber& me = *current;
  settle();
  destroy_variables();
  destroy_values();
  changed();
  lose_variables(me);
  stop(wish_for(&me, kExit, "thread exit", nullptr, nullptr));
  me.result = result;
  if (is_last() && runs_at_exit(Exit::Usual)) {
    for (int id = 0; id < created_ids_end_; ++id)
      if (Fiber& other = *fibers_[id]; other.state == Fiber::State::Done)
        synchronise(&other, kExit, "the last thread ends", nullptr, has_finished);
    end_process(Exit::Usual, 0, nullptr, nullptr);
  }
  settle_object();
  me.state = Fiber::State::Done;
  next(me);
  __builtin_unreachable();
}

// If several threads end the process, the first one does, and the others wait.
void World::stop_before_end(Exit exit, void* pc) {
  if (unjoined_ == 0 || (makes_graphs && exit == Exit::AtOnce)) return;
  Wish wish = wish_for(exit_object(), kAtExit, "exit", pc, nullptr);
  wish.what = Wish::What::End;
  wish.kind = AccessKind::Fence;
  if (exit == Exit::AtOnce) {
    wish.number = -1;
  } else {
    wish.kind = AccessKind::LockedStore;
    wish.is_ready = [](const Fiber& fiber) { return world.ending_ < 0 || world.ending_ == fiber.id; };
  }
  stop(wish);
}

void World::end_process(Exit exit, int status, const char* function, void* pc) {
  Fiber& me = *current;
  settle();
  if (exit == Exit::Usual) destroy_variables();
  stop_before_end(exit, pc);
  while (runs_at_exit(exit)) {  // others may register more meanwhile
    ending_ = me.id;
    run_at_exit(exit);
    stop_before_end(exit, pc);
  }
  if (status != 0 && !is_exit_normal) {
    failure.function = function;
    failure.status = status;
    fail(Finding::ExitStatus, "", pc);
  }
  has_ended = unjoined_ != 0 || me.id != 0;
  settle_object();
  me.state = Fiber::State::Done;
  if (!makes_graphs) plan_size_ = plan_at_ = 0;
  next(me);
  __builtin_unreachable();
}

}  // namespace memfence::running
