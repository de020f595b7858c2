// What a process does at one moment under SC: a step, or a whole way through a region in which it holds the bus. Nobody else
// accesses memory meanwhile, so that such a way is one event with all its accesses; those that never release the bus are no
// events. As in `certificates/checker/events.py`.
#pragma once

#include <set>

#include "certificate/steps.hpp"

namespace memfence::certificate {

class Events {
 public:
  // `model`: SC. `program`, `model` and `layout` outlive the events.
  Events(const Program& program, const Model& model, const Layout& layout)
      : program_(program), steps_(program, model, layout), places_of_a_state_(static_cast<std::size_t>(layout.places())) {}

  // Whether somebody holds the bus: no moment at which anybody else could look.
  static bool is_held(const Program& program, const Number* state) {
    return program.lock_at >= 0 && state[program.lock_at] != 0;
  }

  // Every event of `process` that begins with its transition `number`, in `state`, where nobody holds the bus. Done: its accesses
  // and the state behind it. Failed: what it has read. Blocked: what it reads and waits for. `visit` returns whether to go on.
  // Unsupported where there are too many places inside a region.
  struct Event {
    Outcome outcome;
    std::vector<Access>& made;
    const Number* after;
    bool is_region;
  };
  using Visit = std::function<bool(const Event&)>;
  bool for_each(const Number* state, int process, int number, const Visit& visit);
  // The same for all transitions of the process, as far as they are possible; `visit` gets the number of the first one as well.
  bool for_each_of(const Number* state, int process, const std::function<bool(int, const Event&)>& visit);

 private:
  struct Place {
    std::vector<Number> state;
    std::vector<Access> made;
  };
  bool go_through(int process, const Visit& visit);
  bool tell(Outcome outcome, std::vector<Access>& made, bool is_region, const Visit& visit) const;
  void arrive(std::vector<Access> made);

  const Program& program_;
  Steps steps_;
  std::size_t places_of_a_state_;
  std::vector<Access> made_;
  std::vector<Place> places_;
  std::set<std::vector<Number>> seen_;
};

}  // namespace memfence::certificate
