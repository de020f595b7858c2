#include "dual/process.hpp"

#include <algorithm>
#include <deque>

#include "machine/index.hpp"

namespace memfence::dual {

namespace {

const Fact* find(const Facts& facts, int variable) {
  const auto place = std::find_if(facts.begin(), facts.end(), [&](const Fact& f) { return f.variable == variable; });
  return place == facts.end() ? nullptr : &*place;
}

class ProcessBuilder {
 public:
  ProcessBuilder(const LocalGraph& local, Messages& messages, Watch& watch, std::uint64_t& bytes)
      : local_(local), messages_(messages), watch_(watch), bytes_(bytes) {}

  ProcessGraph build(Stop& stop) {
    sequence({});
    for (const int s : local_.initial) graph_.initial.push_back(number(s, 0, 0));
    std::uint64_t count = 0;
    while (!queue_.empty()) {
      const int e = queue_.front();
      queue_.pop_front();
      expand(e);
      if ((++count & 63) == 0) stop = watch_.check(count, count, queue_.size(), bytes_);
      if (stop != Stop::None) break;
    }
    return std::move(graph_);
  }

 private:
  int sequence(const Facts& owned) {
    const auto [place, fresh] = sequences_.try_emplace(owned, static_cast<int>(graph_.owned_facts.size()));
    if (fresh) graph_.owned_facts.push_back(owned);
    return place->second;
  }

  int number(int local, int owned, int distance) {
    const auto [place, fresh] = numbers_.try_emplace({local, owned}, static_cast<int>(graph_.local.size()));
    if (fresh) {
      bytes_ += 200;
      graph_.local.push_back(local);
      graph_.owned.push_back(owned);
      graph_.silent.emplace_back();
      graph_.back.emplace_back();
      graph_.undeleted.emplace_back();
      graph_.distance.push_back(distance);
      queue_.push_back(place->second);
    }
    return place->second;
  }

  int label(Label l) {
    const auto [place, fresh] = labels_.try_emplace(std::move(l), static_cast<int>(graph_.labels.size()));
    if (fresh) graph_.labels.push_back(place->first);
    return place->second;
  }

  void expand(int e) {
    const int s = graph_.local[at(e)];
    const int distance = graph_.distance[at(e)] + 1;
    const Facts owned = graph_.owned_facts[at(graph_.owned[at(e)])];
    if (!owned.empty()) {
      const int target = number(s, sequence(Facts(owned.begin() + 1, owned.end())), distance);
      graph_.undeleted[at(target)].push_back(e);
    }
    for (const LocalGraph::Step& step : local_.steps[at(s)]) {
      const Action& a = local_.actions[at(step.action)];
      if (a.mode != Mode::Plain && !owned.empty()) continue;
      Facts reads;
      bool possible = true;
      for (const Fact& read : a.reads) {
        const Fact* own = find(owned, read.variable);
        possible = possible && (!own || own->value == read.value);
        if (!own) reads.push_back(read);
      }
      if (!possible) continue;
      Facts after = owned;
      if (a.mode != Mode::Locked)
        for (const Fact& store : a.stores) {
          std::erase_if(after, [&](const Fact& f) { return f.variable == store.variable; });
          after.push_back(store);
        }
      const Label l{a.mode, reads.empty() ? no_message : messages_.number(reads), a.stores, !a.reads.empty()};
      const int target = number(step.target, sequence(after), distance);
      if (l.is_silent()) {
        graph_.silent[at(target)].push_back(e);
      } else {
        graph_.back[at(target)].push_back({label(l), e});
      }
      bytes_ += 8;
    }
  }

  const LocalGraph& local_;
  Messages& messages_;
  Watch& watch_;
  std::uint64_t& bytes_;
  ProcessGraph graph_;
  std::map<Facts, int> sequences_;
  std::map<std::pair<int, int>, int> numbers_;
  std::map<Label, int> labels_;
  std::deque<int> queue_;
};

}  // namespace

int Messages::number(const Facts& facts) {
  const auto [place, fresh] = numbers_.try_emplace(facts, static_cast<int>(facts_.size()));
  if (fresh) facts_.push_back(facts);
  return place->second;
}

ProcessGraph build_process_graph(const LocalGraph& local, Messages& messages, Watch& watch, std::uint64_t& bytes, Stop& stop) {
  return ProcessBuilder(local, messages, watch, bytes).build(stop);
}

}  // namespace memfence::dual
