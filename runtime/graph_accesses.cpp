#include "graph_stops.hpp"

#include "arena.hpp"
#include "pages.hpp"
#include "text.hpp"

namespace memfence::running {

using graphs::ActionKind;
using graphs::Order;
using graphs::Value;

namespace {

constexpr int kConsume = 1, kAcquiring = 2, kReleasing = 3, kBoth = 4, kStrongest = 5;

bool acquires(int order) { return order == kConsume || order == kAcquiring || order >= kBoth; }
bool releases(int order) { return order >= kReleasing; }
Order bits(bool acquiring, bool releasing, int order) {
  return static_cast<Order>(graphs::kAtomic | (acquiring ? graphs::kAcquire : 0) | (releasing ? graphs::kRelease : 0) |
                            (order == kStrongest ? graphs::kSeqCst : 0));
}

Cell cell_at(void* at, std::size_t size) { return {at, static_cast<std::uint8_t>(size)}; }

// Parts of accesses are on the stack of the runtime, one access at a time: nothing stops in between.
void parts_of(char* at, std::size_t size, bool writes, bool is_atomic, void* pc, List<Part>& into) {
  world.settle();
  world.watch_use(at, size, writes);
  into.clear();
  if (!world.is_alone() && !is_local_storage(at)) {
    if (!world.locations.touch(at, size, world.me().id, writes, is_atomic, world.cells, into))
      world.fail(Finding::Unsupported, "atomic accesses of different sizes to the same memory", pc);
  } else {
    into.push_back({at, size, -1, cell_at(at, size)});
  }
  for (const Part& part : into)
    if (part.number < 0) fail_unless_allocated(part.at, part.size, writes, pc);
}

// The location of something atomic, or -1.
int atomic_location(void* at, std::size_t size, bool writes, void* pc) {
  static List<Part> parts;
  if ((reinterpret_cast<std::uintptr_t>(at) & 7) + size > 8)
    world.fail(Finding::Unsupported, "an atomic access that is not aligned", pc);
  parts_of(static_cast<char*>(at), size, writes, true, pc, parts);
  return parts[0].number;
}

// Others may free the memory before it is the thread's turn.
Value stop_at(const Wish& wish, const GraphStop& ask) {
  const Value given = world.stop(wish, ask);
  fail_unless_allocated(wish.cell.address, wish.cell.size, ask.kind == ActionKind::Write, wish.pc);
  return given;
}

template <class Each>
void in_words(char* address, std::size_t size, const Each& each) {
  for (char* const end = address + size; address < end;) {
    const std::size_t room = 8 - (reinterpret_cast<std::uintptr_t>(address) & 7);
    const auto left = static_cast<std::size_t>(end - address);
    const std::size_t here = left < room ? left : room;
    each(address, here);
    address += here;
  }
}

}  // namespace

Order order_of_read(int order) { return bits(acquires(order), false, order); }
Order order_of_write(int order) { return bits(false, releases(order), order); }
Order order_of_fence(int order) { return bits(acquires(order), releases(order), order); }

// --- Atomic accesses -----------------------------------------------------------------------------------------------------------

std::uint64_t graph_load(void* at, std::size_t size, int order, void** frame) {
  void* const pc = frame[kReturnAddress];
  const Cell cell = cell_at(at, size);
  const int location = atomic_location(at, size, false, pc);
  if (location < 0) return cell.read();
  Wish wish = wish_of(AccessKind::Load, location, cell, pc, true);
  wish.state = world.consider_waiting(wish, frame);
  GraphStop ask = reading(location, order_of_read(order));
  world.has_weak_reads |= !acquires(order);
  ask.may_loop = wish.state != 0;
  const auto value = static_cast<std::uint64_t>(stop_at(wish, ask));
  world.see(wish, value, wish.state);
  world.log_value(value);
  return value;
}

std::uint64_t graph_look(void* at, std::size_t size, void* pc) {
  const Cell cell = cell_at(at, size);
  const int location = atomic_location(at, size, false, pc);
  if (location < 0) return cell.read();
  const auto value = static_cast<std::uint64_t>(
      stop_at(wish_of(AccessKind::Load, location, cell, pc, true), reading(location, graphs::kAtomic)));
  world.log_value(value);
  return value;
}

void graph_store(void* at, std::size_t size, std::uint64_t value, int order, void** frame) {
  void* const pc = frame[kReturnAddress];
  const Cell cell = cell_at(at, size);
  const int location = atomic_location(at, size, true, pc);
  if (location >= 0) {
    world.changed();
    stop_at(wish_of(AccessKind::Store, location, cell, pc, true),
            writing(location, static_cast<Value>(value), order_of_write(order)));
    world.log_value(value);
  } else if (value != cell.read() && !is_on_own_stack(at)) {
    world.changed();
  }
  cell.write(value);
}

namespace {

// The thread is about to update what it reads there.
struct Updating {
  Wish wish;
  int location;
};

Updating begin_update(void* at, std::size_t size, void** frame) {
  void* const pc = frame[kReturnAddress];
  const int location = atomic_location(at, size, true, pc);
  Updating here{wish_of(AccessKind::LockedStore, location, cell_at(at, size), pc, true), location};
  if (location >= 0) here.wish.state = world.consider_waiting(here.wish, frame);
  return here;
}

}  // namespace

std::uint64_t graph_begin_update(void* at, std::size_t size, int order, void** frame) {
  const Updating here = begin_update(at, size, frame);
  world.me().is_updating = here.location >= 0;
  if (here.location < 0) return here.wish.cell.read();
  GraphStop ask = reading(here.location, order_of_read(order));
  ask.of_write = order_of_write(order);
  world.has_weak_reads |= !acquires(order);
  ask.updates = GraphStop::Updates::Always;
  ask.may_loop = here.wish.state != 0;
  const auto value = static_cast<std::uint64_t>(stop_at(here.wish, ask));
  world.see(here.wish, value, here.wish.state);
  world.me().has_update = true;
  return value;
}

void graph_end_update(void* at, std::size_t size, std::uint64_t value) {
  Fiber& me = world.me();
  const Cell cell = cell_at(at, size);
  if (me.is_updating) {  // not `has_update`: that may be of an earlier one, before the thread came to memory of its own
    me.update = static_cast<Value>(value);
    world.log_value(value);
    if (static_cast<std::uint64_t>(me.given) != value) world.changed();
  } else if (cell.read() != value && !is_on_own_stack(at)) {
    world.changed();
  }
  cell.write(value);
}

std::uint64_t graph_compare_exchange(void* at, std::size_t size, const Exchange& exchange, void** frame, bool& succeeds) {
  const Updating here = begin_update(at, size, frame);
  const Cell cell = here.wish.cell;
  Fiber& me = world.me();
  bool fails = false;
  if (exchange.is_weak && !world.is_alone() && world.may_be_spurious(Whim::Failure)) {
    GraphStop choice;
    choice.kind = ActionKind::Choice;
    choice.ways = 2;
    Wish wish = here.wish;
    wish.whim = Whim::Failure;
    fails = stop_at(wish, choice) != 0;
  }
  std::uint64_t value = 0;
  if (here.location >= 0) {
    GraphStop ask = reading(here.location, order_of_read(exchange.order));
    ask.otherwise = order_of_read(exchange.failing);
    world.has_weak_reads |= !acquires(exchange.order) || !acquires(exchange.failing);
    if (fails) ask.order = ask.otherwise;
    ask.of_write = order_of_write(exchange.order);
    ask.updates = fails ? GraphStop::Updates::Never : GraphStop::Updates::IfExpected;
    ask.value = static_cast<Value>(exchange.expected);
    ask.may_loop = here.wish.state != 0 && !fails;
    value = static_cast<std::uint64_t>(stop_at(here.wish, ask));
    world.log_value(value);
  } else {
    value = cell.read();
  }
  if (fails && value != exchange.expected) world.give_up_execution(here.wish.pc);  // it fails anyway: that was met without
  succeeds = !fails && value == exchange.expected;
  if (!succeeds) {
    me.choice = fails;
    if (here.location >= 0) world.see(here.wish, value, here.wish.state);
    me.choice = 0;
    if (fails) world.follow_whim(Whim::Failure, here.wish.pc);
    return value;
  }
  me.is_updating = here.location >= 0;
  me.has_update |= me.is_updating;
  if (here.location >= 0) world.see(here.wish, value, here.wish.state);
  graph_end_update(at, size, exchange.desired);
  return value;
}

void graph_fence(int order, void* pc) {
  if (!world.in_program || order == 0) return;
  world.settle();
  if (world.is_alone()) return;
  Wish wish;
  wish.what = Wish::What::Fence;
  wish.kind = AccessKind::Fence;
  wish.pc = pc;
  wish.is_atomic = true;
  wish.name = "fence";
  GraphStop ask;
  ask.kind = ActionKind::Fence;
  ask.order = order_of_fence(order);
  world.stop(wish, ask);
}

// --- Accesses that are not atomic ------------------------------------------------------------------------------------------------

namespace {

std::uint64_t read_plainly(const Cell& cell, int location, void* pc) {
  const Value value = stop_at(wish_of(AccessKind::Load, location, cell, pc, false), reading(location, 0));
  world.log_value(static_cast<std::uint64_t>(value));
  return static_cast<std::uint64_t>(value);
}

}  // namespace

void graph_read_all(char* address, std::size_t size, void** frame) {
  void* const pc = frame[kReturnAddress];
  List<Buffered>& loaded = world.me().loaded;
  loaded.clear();
  in_words(address, size, [&](char* at, std::size_t count) {
    List<Part> parts;
    parts_of(at, count, false, false, pc, parts);
    for (const Part& part : parts)
      if (part.number >= 0) loaded.push_back({part.cell, part.number, read_plainly(part.cell, part.number, pc)});
  });
  for (const Buffered& one : loaded) {
    const std::uint64_t real = one.cell.read();
    if (one.value == real) continue;
    world.me().shown.push_back({one.cell, one.number, real});
    one.cell.write(one.value);
  }
}

bool is_shared_in_graph(char* address, std::size_t size, void* pc) {
  bool is_shared = false;
  List<Part> parts;
  in_words(address, size, [&](char* at, std::size_t count) {
    parts_of(at, count, true, false, pc, parts);
    for (const Part& part : parts) is_shared |= part.number >= 0;
  });
  return is_shared;
}

void graph_store_late(char* address, const char* bytes, std::size_t size, void* pc) {
  in_words(address, size, [&](char* at, std::size_t count) {
    List<Part> parts;
    parts_of(at, count, true, false, pc, parts);
    for (const Part& part : parts) {
      const char* from = bytes + (part.at - address);
      if (part.number < 0) {
        if (__builtin_memcmp(part.at, from, part.size) != 0 && !is_on_own_stack(part.at)) world.changed();
        __builtin_memcpy(part.at, from, part.size);
        continue;
      }
      std::uint64_t value = part.is_whole() ? 0 : read_plainly(part.cell, part.number, pc);
      __builtin_memcpy(reinterpret_cast<char*>(&value) + (part.at - static_cast<char*>(part.cell.address)), from, part.size);
      if (value != part.cell.read()) world.changed();
      stop_at(wish_of(AccessKind::Store, part.number, part.cell, pc, false),
              writing(part.number, static_cast<Value>(value), 0));
      world.log_value(value);
      part.cell.write(value);
    }
  });
}

void graph_lose(char* begin, std::size_t size, const char* name, void* pc) {
  if (world.is_alone()) return;
  List<Part> parts;
  world.locations.lose(begin, size, world.me().id, world.cells, parts);
  List<NumberedAccess> objects;
  world.cells.each_object(begin, begin + size, objects);
  for (const NumberedAccess& object : objects) parts.push_back({begin, 0, object.number, Cell{begin, 0}});
  for (const Part& part : parts) {
    Wish wish = wish_of(AccessKind::Store, part.number, part.cell, pc, false);
    wish.name = name;
    world.stop(wish, writing(part.number, 0, 0));
  }
}

}  // namespace memfence::running
