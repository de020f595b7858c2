// What steps make of the sets of words: each is made once, and remembered by how it came about.
#include "certificate/automata.hpp"

namespace memfence::certificate {

namespace {

enum : Number { kByStep, kByCommit, kByNothing };

}  // namespace

const std::vector<Newest>& AutomataChecker::newest(std::uint32_t number, int variable) {
  const auto known = newest_.find({number, variable});
  if (known != newest_.end()) return known->second;
  return newest_[{number, variable}] = newest_values(not_empty(words_[number]), alphabet_, variable);
}

std::size_t AutomataChecker::made(std::uint32_t number, bool pending, const std::vector<Behind::Answer>& answers, int process,
                                  const std::vector<Symbol>& stored) {
  Made how{kByStep, number, pending ? 1 : 0, static_cast<Number>(stored.size())};
  how.insert(how.end(), stored.begin(), stored.end());
  for (const Behind::Answer& answer : answers) {
    if (answer.process != process) continue;
    how.insert(how.end(), {answer.variable, answer.value ? 1 : 0, answer.value.value_or(0)});
  }
  const auto known = made_numbers_.find(how);
  if (known != made_numbers_.end()) return known->second;
  Words words;
  if (!pending) {
    if (words_[number].has_empty()) words = empty_word();
  } else {
    words = not_empty(words_[number]);
    for (const Behind::Answer& answer : answers)
      if (answer.process == process) words = with_newest(words, alphabet_, answer.variable, answer.value);
  }
  return remember(how, settle(append(words, stored)));
}

std::size_t AutomataChecker::committed(std::uint32_t number, Symbol symbol) {
  const Made how{kByCommit, number, symbol};
  const auto known = made_numbers_.find(how);
  if (known != made_numbers_.end()) return known->second;
  const Words& words = words_[number];
  const bool reorders = model_.buffers == Buffers::PerVariable;
  return remember(how, settle(reorders ? overtaken(words, alphabet_, symbol) : without_first(words, symbol)));
}

std::size_t AutomataChecker::kept(std::uint32_t number) {
  const auto known = made_numbers_.find(Made{kByNothing, number});
  return known != made_numbers_.end() ? known->second : remember({kByNothing, number}, settle(words_[number]));
}

Words AutomataChecker::settle(const Words& words) const {
  return model_.buffers == Buffers::PerVariable ? settled(merged(words)) : words;
}

std::size_t AutomataChecker::remember(const Made& how, Words words) {
  const auto [place, is_new] = made_numbers_.emplace(how, made_.size());
  if (is_new) {
    made_any_.push_back(words.has_any() ? 1 : 0);
    made_.push_back(std::move(words));
  }
  return place->second;
}

bool AutomataChecker::is_included(std::uint32_t larger, std::size_t made) {
  const auto [place, is_new] = included_.emplace(std::pair(larger, made), false);
  if (is_new) place->second = includes(words_[larger], made_[made]);
  return place->second;
}

// What the step itself stored: behind the entry that stands for what was pending before.
std::vector<Symbol> AutomataChecker::stored(const Number* state, int process, bool pending) {
  const Buffer& buffer = layout_.buffers(process).at(0);
  std::vector<Symbol> found;
  for (Number n = pending ? 1 : 0; n < state[buffer.first]; ++n) {
    const Number* entry = state + buffer.first + 1 + 2 * n;
    found.push_back(entry[0] < 0 ? kSeparator : alphabet_.number(entry[0], entry[1]));
  }
  return found;
}

}  // namespace memfence::certificate
