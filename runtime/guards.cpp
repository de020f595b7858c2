#include "guards.hpp"

namespace memfence::running {

namespace {

template <class T>
bool has_one(const List<T>& list, const T& wanted) {
  for (const T& one : list)
    if (one == wanted) return true;
  return false;
}

}  // namespace

bool Guards::is_never_tried(const void* mutex) {
  if (has_one(tried_, mutex)) return false;
  if (!has_one(relied_, {-1, mutex})) relied_.push_back({-1, mutex});
  return true;
}

bool Guards::is_written_under(int cell, const void* mutex) {
  const auto number = static_cast<std::size_t>(cell);
  if (number < writes_.size() && writes_[number].any && !has_one(writes_[number].held, mutex)) return false;
  if (!has_one(relied_, {cell, mutex})) relied_.push_back({cell, mutex});
  return true;
}

bool Guards::tried(const void* mutex) {
  if (has_one(tried_, mutex)) return false;
  tried_.push_back(mutex);
  return refute({-1, mutex});
}

bool Guards::written(int cell, const List<const void*>& held) {
  const auto number = static_cast<std::size_t>(cell);
  if (number >= writes_.size()) writes_.resize(number + 1);
  Writes& writes = writes_[number];
  if (!writes.any) writes.held = held;
  writes.any = true;
  std::erase_if(writes.held, [&](const void* mutex) { return !has_one(held, mutex); });
  bool news = false;
  for (std::size_t i = 0; i < relied_.size(); ++i)
    if (relied_[i].cell == cell && !has_one(writes.held, relied_[i].mutex)) news |= refute(relied_[i]);
  return news;
}

bool Guards::refute(const Claim& claim) {
  if (!has_one(relied_, claim) || has_one(refuted_, claim)) return false;
  refuted_.push_back(claim);
  return true;
}

}  // namespace memfence::running
