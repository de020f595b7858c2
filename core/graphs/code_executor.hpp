// Unrolled code as an executor. A slot has one definition, so going back within a thread is forgetting where it stood: what
// it computed so far stays, and what it computed later is computed again before it is used.
#pragma once

#include "graphs/code.hpp"
#include "graphs/executor.hpp"

namespace memfence::graphs {

// At the end of an execution: the thread does nothing any more; it may stay so for ever; nobody knows whether it stays.
struct Staying {
  bool stays = false, may_end = false, is_undecided = false;
};

class CodeExecutor {
 public:
  explicit CodeExecutor(const Code& code);

  int threads() const { return static_cast<int>(code_.threads.size()); }
  int locations() const { return static_cast<int>(code_.initial.size()); }
  Value initial(int location) const { return code_.initial[static_cast<std::size_t>(location)]; }
  bool has_learned() const { return false; }
  void reset();
  Action next(int thread) const { return of(thread).next.action; }
  Outlook outlook(int thread, Value value);
  void take(int thread, Value value);
  void follow(const ExecutionGraph& graph);

  // The item that an event is; `value`: of a read that has not been taken yet, what it would return.
  int item_of(int thread, int number) const;
  int item_of_next(int thread, Value value) const;
  // At the end of an execution, once it was told what memory holds. `pending`: the thread waits at a read that could see
  // `newest` at last.
  void remember(const std::vector<Value>& memory);
  Value last_register(int thread, int number) const;
  Staying staying(int thread, bool pending, Value newest);
  // Whether some value did not fit into 64 bits: then nothing that was explored counts.
  bool is_beyond() const { return is_beyond_; }

 private:
  struct Standing {
    int item = 0;  // that the action comes from
    Action action;
  };
  struct Taken {
    Standing before;
    int item;  // that was taken: of a compare-exchange, that of its outcome
  };
  struct Thread {
    std::vector<Value> slots;
    std::vector<Taken> taken;
    Standing next;
    // What became of the thread with the value that was looked at last.
    bool has_looked = false;
    Value looked = 0;
    Standing ahead;
  };

  Thread& of(int thread) { return threads_[static_cast<std::size_t>(thread)]; }
  const Thread& of(int thread) const { return threads_[static_cast<std::size_t>(thread)]; }
  const Item& item(int thread, int number) const {
    return code_.threads[static_cast<std::size_t>(thread)][static_cast<std::size_t>(number)];
  }
  Value evaluate(const Thread& thread, int expression) const;
  bool holds(const Thread& thread, int expression) const { return expression < 0 || evaluate(thread, expression) != 0; }
  bool define(Thread& thread, const Item& item) const;
  Standing go_on(int thread, int from) const;
  Standing go_on_with(int thread, Value value);
  bool succeeds(const Thread& thread, const Item& read, Value value) const { return value == evaluate(thread, read.value); }

  const Code& code_;
  mutable std::vector<Thread> threads_;
  mutable bool is_beyond_ = false;
};

}  // namespace memfence::graphs
