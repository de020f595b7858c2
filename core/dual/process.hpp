// Local states together with the process's own messages: what a constraint says about one process, but for the words.
//
// A FIFO of load messages is cut at the newest own message of each variable: b = s0 o1 s1 ... om sm. The sequence o1...om
// (the *owned* messages, oldest first) must be equal in comparable configurations, so it is part of the control state
// here. Which sequences can occur with which local state is found forward: a store moves its variable to the end, a
// delete drops the first. Loads of owned variables then read a known value and need no message at all.
//
// Everything is stored backwards, since the search asks for predecessors only.
#pragma once

#include <map>

#include "dual/local.hpp"

namespace memfence::dual {

// The values that one step loads at the same moment, numbered from 1 on; 0 stands for an owned message in a FIFO.
class Messages {
 public:
  int number(const Facts& facts);
  const Facts& operator[](int number) const { return facts_[static_cast<std::size_t>(number)]; }
  int count() const { return static_cast<int>(facts_.size()); }

 private:
  std::vector<Facts> facts_{Facts{}};
  std::map<Facts, int> numbers_;
};

inline constexpr int own_message = 0;
inline constexpr int no_message = 0;

struct Label {
  Mode mode;
  int message;   // Plain: what must head the FIFO, or none; else: what memory must hold
  Facts stores;  // as in Action
  bool loads;    // whether the step loads at all, be it from its own messages
  auto operator<=>(const Label&) const = default;

  bool is_silent() const { return mode == Mode::Plain && message == no_message && stores.empty(); }
  bool only_reads() const { return stores.empty(); }
};

struct ProcessGraph {
  struct Back {
    int label;
    int source;
  };
  std::vector<int> local;                     // per state: its local state
  std::vector<int> owned;                     // per state: number of its sequence of owned messages
  std::vector<std::vector<int>> silent;       // per state: predecessors by silent steps
  std::vector<std::vector<Back>> back;        // per state: the other steps that lead to it
  std::vector<std::vector<int>> undeleted;    // per state: what it was before its oldest owned message was deleted
  std::vector<int> initial;
  std::vector<Label> labels;
  std::vector<Facts> owned_facts;             // per sequence; number 0 is the empty one

  // How many steps of the process, at least, lead from its start to the state: a guide for the search.
  std::vector<int> distance;
  std::size_t size() const { return local.size(); }
};

// `stop` is set where a limit was hit.
ProcessGraph build_process_graph(const LocalGraph& local, Messages& messages, Watch& watch, std::uint64_t& bytes, Stop& stop);

}  // namespace memfence::dual
