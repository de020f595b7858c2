// The symbolic states seen so far, grouped by control part: inclusion is asked only inside a group.
//
// A state is a row of values: the control part, then one language per process. Rows live in chunks that never move; events
// in one array; the states of a group are chained through their numbers. A state costs its row and some thirty bytes.
#pragma once

#include <memory>
#include <span>

#include "symbolic/cycles.hpp"

namespace memfence {

class SymbolicStateSet {
 public:
  SymbolicStateSet(std::size_t control, std::size_t width, Languages& languages)
      : control_(control), width_(width), languages_(languages), table_(1024, -1) {}

  int states() const { return static_cast<int>(nodes_.size()); }
  const Value* row(int state) const {
    const auto n = static_cast<std::size_t>(state);
    return chunks_[n / kChunk].get() + n % kChunk * width_;
  }
  std::span<const Event> events(int state) const {
    const Node& n = node(state);
    return {events_.data() + n.first_event, n.event_count};
  }
  int group(int state) const { return node(state).group; }
  int from(int state) const { return node(state).from; }
  int depth(int state) const { return node(state).depth; }
  int mover(int state) const { return node(state).mover; }
  // Whether no state that came later includes this one.
  bool is_live(int state) const { return node(state).live; }

  std::size_t groups() const { return heads_.size(); }
  bool is_empty(int group) const { return heads_[static_cast<std::size_t>(group)].newest < 0; }
  template <class Visit>
  void for_each_control(Visit&& visit) const {
    for (const Group& g : heads_)
      if (g.first >= 0) visit(std::vector<Value>(row(g.first), row(g.first) + control_));
  }

  // The group of a row; a new one if need be, whose first state must be the next to be inserted.
  int group_of(const Value* wanted);
  // Whether one state of the group includes `wanted`.
  bool covers(int group, const Value* wanted) {
    for (int s = heads_[static_cast<std::size_t>(group)].newest; s >= 0; s = node(s).next)
      if (includes(row(s), wanted)) return true;
    return false;
  }
  // Keep the row, and of the others in its group only those that it does not include.
  int insert(int group, const Value* added, std::span<const Event> events, int from, int mover);

  std::uint64_t stored() const { return stored_; }
  std::uint64_t bytes() const {
    return chunks_.size() * kChunk * width_ * sizeof(Value) + nodes_.capacity() * sizeof(Node) +
           events_.capacity() * sizeof(Event) + heads_.capacity() * sizeof(Group) + table_.size() * sizeof(int) +
           pending_.capacity() * sizeof(Value);
  }

 private:
  static constexpr std::size_t kChunk = 1024;  // rows
  struct Node {
    int group, next, from, depth;  // next: in the group
    std::size_t first_event;
    std::uint32_t event_count;
    std::int16_t mover;
    bool live;
  };
  struct Group {
    int first;   // the first state ever, whose control part is the group's; -1: not inserted yet
    int newest;  // of the chain of live states
    std::uint32_t hash;
  };

  const Node& node(int state) const { return nodes_[static_cast<std::size_t>(state)]; }
  Node& node(int state) { return nodes_[static_cast<std::size_t>(state)]; }
  bool includes(const Value* larger, const Value* smaller) {
    for (std::size_t i = control_; i < width_; ++i)
      if (!languages_.includes(static_cast<Language>(larger[i]), static_cast<Language>(smaller[i]))) return false;
    return true;
  }
  bool has_control(int group, const Value* wanted) const;
  void grow_table();

  std::size_t control_, width_;
  Languages& languages_;
  std::vector<std::unique_ptr<Value[]>> chunks_;
  std::vector<Node> nodes_;
  std::vector<Event> events_;
  std::vector<Group> heads_;
  std::vector<int> table_;      // groups by hash, open addressing
  std::vector<Value> pending_;  // the control part of the last group, until it has a state
  std::uint64_t stored_ = 0;
};

}  // namespace memfence
