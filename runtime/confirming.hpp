// From "could have been stale" to "goes wrong": the execution again, with the missed store held back in a store buffer.
#pragma once

#include "options.hpp"
#include "scouting.hpp"
#include "watching.hpp"

namespace memfence::running {

// The steps under TSO up to the stale load: the SC execution, but for what has to come after the missed store. Negative
// numbers are stores that reach memory. Empty: the load does not come that far.
std::vector<int> held_back(const List<Logged>& log, const StaleLoad& stale, int addresses);

struct Confirmation {
  bool is_confirmed = false;
  bool is_deadlock = false;
  Failure failure;
  std::vector<int> steps;
  int attempts = 0;
};

// Run `prefix`, then on in many ways, until something goes wrong or the attempts are used up.
Confirmation confirm(const std::vector<int>& prefix, const StaleLoad& stale, int writer, const Options& options,
                     Chance& chance);

// The same from the beginning: executions with store buffers at random, for models without a monitor.
Confirmation hunt(const Options& options, Chance& chance);

// Nobody can go on, no store either, and nothing can change that.
bool is_stuck();

// Take the steps one by one, as long as they are possible. Returns how many were.
std::size_t take_steps(const std::vector<int>& steps);

}  // namespace memfence::running
