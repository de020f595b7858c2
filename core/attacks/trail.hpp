// The edges of a walk, from first to last; copies share what they have in common, since a walk may be as long as a counter
// is wide, and every place on it is kept.
#pragma once

#include <memory>
#include <vector>

namespace memfence {

class Trail {
 public:
  Trail then(int edge) const {
    Trail longer;
    longer.last_ = std::make_shared<Link>(edge, length() + 1, last_);
    return longer;
  }
  int length() const { return last_ ? last_->length : 0; }
  std::vector<int> edges() const {
    std::vector<int> all(static_cast<std::size_t>(length()));
    for (const Link* link = last_.get(); link; link = link->before.get())
      all[static_cast<std::size_t>(link->length - 1)] = link->edge;
    return all;
  }

 private:
  struct Link {
    Link(int last, int count, std::shared_ptr<Link> rest) : edge(last), length(count), before(std::move(rest)) {}
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link() {  // one by one: destructors within destructors would need a stack as deep as the walk is long
      while (before && before.use_count() == 1) before = std::move(before->before);
    }
    int edge;
    int length;
    std::shared_ptr<Link> before;
  };
  std::shared_ptr<Link> last_;
};

}  // namespace memfence
