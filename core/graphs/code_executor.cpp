#include "graphs/code_executor.hpp"

#include <algorithm>

namespace memfence::graphs {

static_assert(Executor<CodeExecutor>);

CodeExecutor::CodeExecutor(const Code& code) : code_(code), threads_(code.threads.size()) { reset(); }

void CodeExecutor::reset() {
  for (int t = 0; t < threads(); ++t) {
    Thread& thread = of(t);
    thread.slots.assign(static_cast<std::size_t>(code_.slots[static_cast<std::size_t>(t)]), 0);
    thread.taken.clear();
    thread.has_looked = false;
    thread.next = go_on(t, 0);
  }
}

Value CodeExecutor::evaluate(const Thread& thread, int expression) const {
  bool failed = false;
  const Wide value = code_.expressions[static_cast<std::size_t>(expression)].evaluate(thread.slots.data(), failed);
  if (failed) return 0;  // a check before it says so, and nothing behind it happens
  is_beyond_ |= value != static_cast<Value>(value);
  return static_cast<Value>(value);
}

// What computes a slot, if the item does no more than that.
bool CodeExecutor::define(Thread& thread, const Item& item) const {
  Value& slot = thread.slots[static_cast<std::size_t>(std::max(item.slot, 0))];
  switch (item.kind) {
    case ItemKind::Define: slot = evaluate(thread, item.value); return true;
    case ItemKind::Join:
      for (std::size_t n = 0; n < item.more.size(); n += 2)
        if (evaluate(thread, static_cast<int>(item.more[n])) != 0) {
          slot = evaluate(thread, static_cast<int>(item.more[n + 1]));
          break;
        }
      return true;
    case ItemKind::Guess: slot = 1; return true;  // the read comes next, and settles it
    default: return false;
  }
}

// To the next item at which the thread does something.
CodeExecutor::Standing CodeExecutor::go_on(int t, int from) const {
  Thread& thread = threads_[static_cast<std::size_t>(t)];
  const auto& items = code_.threads[static_cast<std::size_t>(t)];
  for (int n = from; n < static_cast<int>(items.size()); ++n) {
    const Item& here = items[static_cast<std::size_t>(n)];
    if (define(thread, here)) continue;
    if (!holds(thread, here.guard)) {
      if (here.kind == ItemKind::Choose) thread.slots[static_cast<std::size_t>(here.slot)] = here.more[0];
      if (here.kind == ItemKind::Read) thread.slots[static_cast<std::size_t>(here.slot)] = 0;
      continue;
    }
    Standing at{n, {}};
    Action& action = at.action;
    action.order = here.order;
    switch (here.kind) {
      case ItemKind::Choose:
        action.kind = ActionKind::Choice;
        action.ways = static_cast<int>(here.more.size());
        return at;
      case ItemKind::Read:
        action.kind = ActionKind::Read;
        action.location = here.base + static_cast<int>(evaluate(thread, here.index));
        return at;
      case ItemKind::Write:
        action.kind = ActionKind::Write;
        action.location = here.base + static_cast<int>(evaluate(thread, here.index));
        action.value = evaluate(thread, here.value);
        action.is_update = here.partner >= 0;
        return at;
      case ItemKind::Fence: action.kind = ActionKind::Fence; return at;
      case ItemKind::Check: action.kind = ActionKind::Failed; break;
      case ItemKind::Wait: action.kind = ActionKind::Waiting; break;
      case ItemKind::Over: action.kind = ActionKind::Over; return at;
      case ItemKind::Cut: action.kind = ActionKind::Cut; return at;
      default: action.kind = ActionKind::Ended; return at;
    }
    if (!holds(thread, here.value)) return at;
  }
  return {static_cast<int>(items.size()), {ActionKind::Over}};  // it stopped where nobody waits
}

CodeExecutor::Standing CodeExecutor::go_on_with(int t, Value value) {
  Thread& thread = of(t);
  const Item& here = item(t, thread.next.item);
  int from = thread.next.item;
  switch (here.kind) {
    case ItemKind::Read:
      if (here.partner >= 0) {
        const bool success = succeeds(thread, here, value);
        thread.slots[static_cast<std::size_t>(item(t, here.guess).slot)] = success;
        for (int n = here.guess + 1; n < from; ++n) define(thread, item(t, n));
        if (!success) from = here.partner;
      }
      thread.slots[static_cast<std::size_t>(item(t, from).slot)] = value;
      break;
    case ItemKind::Choose:
      thread.slots[static_cast<std::size_t>(here.slot)] = here.more[static_cast<std::size_t>(value)];
      break;
    default: break;
  }
  return go_on(t, from + 1);
}

int CodeExecutor::item_of_next(int t, Value value) const {
  const Thread& thread = of(t);
  const Item& here = item(t, thread.next.item);
  const bool fails = here.kind == ItemKind::Read && here.partner >= 0 && !succeeds(thread, here, value);
  return fails ? here.partner : thread.next.item;
}

int CodeExecutor::item_of(int thread, int number) const { return of(thread).taken[static_cast<std::size_t>(number)].item; }

Outlook CodeExecutor::outlook(int t, Value value) {
  Thread& thread = of(t);
  if (!thread.has_looked || thread.looked != value) {
    thread.ahead = go_on_with(t, value);
    thread.looked = value;
    thread.has_looked = true;
  }
  const Action& ahead = thread.ahead.action;
  const bool blocks = ahead.kind == ActionKind::Waiting && item(t, thread.ahead.item).base == 1;
  return {blocks, ahead.kind == ActionKind::Write && ahead.is_update, item(t, item_of_next(t, value)).order};
}

void CodeExecutor::take(int t, Value value) {
  Thread& thread = of(t);
  const Standing before = thread.next;
  const int taken = item_of_next(t, value);
  const bool known = thread.has_looked && thread.looked == value && before.action.kind == ActionKind::Read;
  const Standing after = known ? thread.ahead : go_on_with(t, value);
  thread.taken.push_back({before, taken});
  thread.next = after;
  thread.has_looked = false;
}

void CodeExecutor::follow(const ExecutionGraph& graph) {
  for (int t = 0; t < threads(); ++t) {
    Thread& thread = of(t);
    const auto kept = static_cast<std::size_t>(t < graph.threads() ? graph.settled(t) : 0);
    if (thread.taken.size() > kept) {
      thread.next = thread.taken[kept].before;
      thread.taken.resize(kept);
      thread.has_looked = false;
    }
    for (int n = static_cast<int>(thread.taken.size()); t < graph.threads() && n < graph.taken(t); ++n)
      take(t, graph.event(event_id(t, n)).value);
  }
}

void CodeExecutor::remember(const std::vector<Value>& memory) {
  for (Thread& thread : threads_) std::copy(memory.begin(), memory.end(), thread.slots.begin());
}

Value CodeExecutor::last_register(int thread, int number) const {
  const auto slot =
      static_cast<std::size_t>(code_.threads[static_cast<std::size_t>(thread)].back().more[static_cast<std::size_t>(number)]);
  return of(thread).slots[slot];
}

Staying CodeExecutor::staying(int thread, bool pending, Value newest) {
  if (pending && !outlook(thread, newest).blocks) return {};
  const Standing& at = pending ? of(thread).ahead : of(thread).next;
  if (at.action.kind != ActionKind::Waiting) return {at.action.kind == ActionKind::Ended, true, false};
  const Item& wait = item(thread, at.item);
  if (wait.index < 0) return {true, !wait.more.empty(), true};
  return {!holds(of(thread), wait.index), !wait.more.empty(), false};
}

}  // namespace memfence::graphs
