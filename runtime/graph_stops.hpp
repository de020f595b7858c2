// Steps of the program as events of an execution graph: reads, writes, fences and choices, with their memory orders.
//
// A thread stops before each, and the explorer says what a read returns. Memory holds what the order of execution makes of
// it: every write goes there as well. What the program loads without a race is there; what an atomic load returns is not
// asked of memory. Objects that synchronise are locations whose value is their state (object_states.hpp): a step on one
// reads the state, which is put into the object, and writes what the program's call makes of it.
#pragma once

#include "accesses.hpp"

namespace memfence::running {

inline GraphStop reading(int location, graphs::Order order) {
  GraphStop ask;
  ask.kind = graphs::ActionKind::Read;
  ask.location = location;
  ask.order = ask.otherwise = order;
  return ask;
}
inline GraphStop writing(int location, graphs::Value value, graphs::Order order) {
  GraphStop ask;
  ask.kind = graphs::ActionKind::Write;
  ask.location = location;
  ask.value = value;
  ask.order = order;
  return ask;
}

// What has no meaning under models whose executions are graphs, or none yet, by its name.
void refuse_in_graphs(const char* what, void* pc);

graphs::Order order_of_read(int order);
graphs::Order order_of_write(int order);
graphs::Order order_of_fence(int order);

// Atomic accesses; `order` as compilers number them.
std::uint64_t graph_load(void* at, std::size_t size, int order, void** frame);
void graph_store(void* at, std::size_t size, std::uint64_t value, int order, void** frame);
// A read-modify-write: what it reads, and then what it writes.
std::uint64_t graph_begin_update(void* at, std::size_t size, int order, void** frame);
void graph_end_update(void* at, std::size_t size, std::uint64_t value);
struct Exchange {
  std::uint64_t expected, desired;
  int order, failing;
  bool is_weak;
};
// Returns what it reads; `succeeds`: whether it has written.
std::uint64_t graph_compare_exchange(void* at, std::size_t size, const Exchange& exchange, void** frame, bool& succeeds);
// What the kernel reads there: a relaxed load, in no loop of the program.
std::uint64_t graph_look(void* at, std::size_t size, void* pc);
void graph_fence(int order, void* pc);

// Accesses that are not atomic. The program makes them itself, before and after.
void graph_read_all(char* address, std::size_t size, void** frame);
bool is_shared_in_graph(char* address, std::size_t size, void* pc);
void graph_store_late(char* address, const char* bytes, std::size_t size, void* pc);
// All that others know of the memory is written, as something that is no value: it is freed, or its thread ends.
void graph_lose(char* begin, std::size_t size, const char* name, void* pc);

}  // namespace memfence::running
