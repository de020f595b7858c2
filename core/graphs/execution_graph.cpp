#include "graphs/execution_graph.hpp"

#include <algorithm>

namespace memfence::graphs {

void ExecutionGraph::ensure(int threads, int locations) {
  if (at(locations) > locations_.size()) locations_.resize(at(locations));
  if (at(threads) <= threads_.size()) return;
  const std::size_t before = stride_;
  threads_.resize(at(threads));
  stride_ = at(threads);
  for (Thread& thread : threads_) {
    std::vector<Count> wider(thread.events.size() * at(clocks_) * stride_, 0);
    for (std::size_t clock = 0; clock < thread.events.size() * at(clocks_); ++clock)
      std::copy_n(&thread.clocks[clock * before], before, &wider[clock * stride_]);
    thread.clocks.swap(wider);
  }
}

void ExecutionGraph::begin_clocks(int thread) {
  Thread& here = threads_[at(thread)];
  const std::size_t width = at(clocks_) * stride_, count = here.events.size();
  here.clocks.resize(count * width);
  Count* mine = &here.clocks[(count - 1) * width];
  if (count > 1) {
    std::copy_n(mine - width, width, mine);
    if (clocks_ > kMessage) std::fill_n(mine + kMessage * stride_, stride_, Count{0});
  } else {
    std::fill_n(mine, width, Count{0});
  }
  mine[thread] = static_cast<Count>(count);
  if (clocks_ > kHappens) mine[kHappens * stride_ + at(thread)] = static_cast<Count>(count);
}

EventId ExecutionGraph::add(int thread, Event event) {
  const EventId id = event_id(thread, size(thread));
  event.stamp = static_cast<int>(added_.size());
  threads_[at(thread)].events.push_back(event);
  added_.push_back(id);
  begin_clocks(thread);
  if (event.reads()) locations_[at(event.location)].reads.push_back(id);
  if (event.writes()) insert(id, event.location, event.place);
  return id;
}

void ExecutionGraph::insert(EventId id, int location, int place) {
  std::vector<EventId>& writes = locations_[at(location)].writes;
  writes.insert(writes.begin() + (place - 1), id);
  for (std::size_t n = at(place); n < writes.size(); ++n)
    ++threads_[at(thread_of(writes[n]))].events[at(number_of(writes[n]))].place;
}

void ExecutionGraph::remove(int location, int place) {
  std::vector<EventId>& writes = locations_[at(location)].writes;
  writes.erase(writes.begin() + (place - 1));
  for (std::size_t n = at(place - 1); n < writes.size(); ++n)
    --threads_[at(thread_of(writes[n]))].events[at(number_of(writes[n]))].place;
}

void ExecutionGraph::set_source(EventId read, EventId source, Value value, Order order, bool is_update) {
  Thread& thread = threads_[at(thread_of(read))];
  Event& event = thread.events[at(number_of(read))];
  event.source = source;
  event.value = value;
  event.order = order;
  event.is_update = is_update;
  thread.settled = std::min(thread.settled, number_of(read));
  begin_clocks(thread_of(read));
}

void ExecutionGraph::take_back(std::size_t size) {
  while (added_.size() > size) {
    const EventId id = added_.back();
    Thread& thread = threads_[at(thread_of(id))];
    const Event event = thread.events.back();
    if (event.reads()) locations_[at(event.location)].reads.pop_back();
    if (event.writes()) remove(event.location, event.place);
    thread.events.pop_back();
    thread.settled = std::min(thread.settled, static_cast<int>(thread.events.size()));
    added_.pop_back();
  }
}

void ExecutionGraph::restrict(const ExecutionGraph& from, int stamp, const Count* prefix) {
  const auto keeps = [&](EventId id) { return from.event(id).stamp <= stamp || knows(prefix, id); };
  clocks_ = from.clocks_;
  stride_ = from.stride_;
  threads_.resize(from.threads_.size());
  locations_.resize(from.locations_.size());
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    const Thread& theirs = from.threads_[t];
    Thread& mine = threads_[t];
    std::size_t kept = theirs.events.size();  // what is left out of a thread is its last part
    while (kept > 0 && !keeps(event_id(static_cast<int>(t), static_cast<int>(kept - 1)))) --kept;
    mine.events.assign(theirs.events.begin(), theirs.events.begin() + static_cast<std::ptrdiff_t>(kept));
    mine.clocks.assign(theirs.clocks.begin(),
                       theirs.clocks.begin() + static_cast<std::ptrdiff_t>(kept * at(clocks_) * stride_));
    mine.settled = std::min(theirs.settled, static_cast<int>(kept));
  }
  const auto is_left_out = [&](EventId id) { return at(number_of(id)) >= threads_[at(thread_of(id))].events.size(); };
  for (std::size_t x = 0; x < locations_.size(); ++x) {
    locations_[x].writes.clear();
    locations_[x].reads.clear();
    for (const EventId id : from.locations_[x].reads)
      if (!is_left_out(id)) locations_[x].reads.push_back(id);
    for (const EventId id : from.locations_[x].writes)
      if (!is_left_out(id)) {
        locations_[x].writes.push_back(id);
        threads_[at(thread_of(id))].events[at(number_of(id))].place = static_cast<int>(locations_[x].writes.size());
      }
  }
  added_.clear();
  for (const EventId id : from.added_) {
    if (is_left_out(id)) continue;
    threads_[at(thread_of(id))].events[at(number_of(id))].stamp = static_cast<int>(added_.size());
    added_.push_back(id);
  }
  const EventId read = from.added_[at(stamp)];
  set_source(read, kNowhere, 0, event(read).order, false);
}

void ExecutionGraph::unsettle(const ExecutionGraph& other) {
  for (std::size_t t = 0; t < threads_.size(); ++t)
    threads_[t].settled = std::min(threads_[t].settled, other.threads_[t].settled);
}

void ExecutionGraph::replay_order(std::vector<EventId>& order) const {
  order.clear();
  std::vector<int> done(threads_.size(), 0);
  const auto is_ready = [&](EventId id) {
    const EventId source = event(id).reads() ? event(id).source : kInitial;
    return number_of(id) == done[at(thread_of(id))] && (source == kInitial || number_of(source) < done[at(thread_of(source))]);
  };
  std::vector<EventId> left(added_), later;
  while (!left.empty()) {
    later.clear();
    for (const EventId id : left) {
      if (event(id).waits()) continue;
      if (is_ready(id)) {
        order.push_back(id);
        ++done[at(thread_of(id))];
      } else {
        later.push_back(id);
      }
    }
    left.swap(later);
  }
}

}  // namespace memfence::graphs
