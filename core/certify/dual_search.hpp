// Who writes certificates of backward searches: the least configurations that lead to something bad. Nobody has to believe this;
// the checker looks at what comes out.
#pragma once

#include <queue>
#include <set>

#include "certificate/dual_rules.hpp"

namespace memfence::certificate {

class DualSearch {
 public:
  explicit DualSearch(const DualAsked& asked);

  enum class Result : std::uint8_t { Goes_on, Done, Reached };
  // Look at so many configurations more. Reached: something bad can be reached.
  Result run(std::size_t steps);
  // The configurations so far that are above no other, and of each, which of them stand for what leads to it: their places here.
  struct Found {
    const Configuration* c;
    std::vector<int> below;
  };
  std::vector<Found> found() const;
  std::size_t size() const { return alive_; }
  DualRules& rules() { return rules_; }

 private:
  // The number of one that stands for it, be it new.
  int add(Configuration c);
  // A configuration that stands for more, and can be reached exactly if `c` can.
  void normalise(Configuration& c);
  bool saturate(Configuration& c, std::size_t p);
  bool drop_known_message(Configuration& c, std::size_t p);

  DualRules rules_;
  Above known_;
  struct Kept {
    Configuration c;
    int instead = Above::kNobody;  // what has taken its place
    std::vector<int> below = {};  // who stood for what leads to it when that was looked at

    bool is_alive() const { return instead == Above::kNobody; }
  };
  std::vector<Kept> all_;
  std::size_t alive_ = 0;
  bool reached_ = false;
  using Waiting = std::pair<std::size_t, std::size_t>;  // messages, number: few messages first
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue_;
};

}  // namespace memfence::certificate
