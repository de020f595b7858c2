#include "store_buffers.hpp"

#include "arena.hpp"

namespace memfence::running {

StoreBuffers::StoreBuffers() {
  for (std::size_t queue = 0; queue < world.store_queues().size(); ++queue) {
    const Fiber& owner = world.fiber(world.store_queues()[queue].thread);
    const int first_kind = kBuffer + static_cast<int>(queue) * (kPlaces + kEpochs);
    first_address_.push_back(world.cells.synchronisation(&owner, first_kind));
    for (int i = 1; i < kPlaces + kEpochs; ++i) world.cells.synchronisation(&owner, first_kind + i);
  }
}

// Where the oldest store of the queue is in the buffer of its thread.
std::size_t StoreBuffers::head(int queue) const {
  const List<Buffered>& buffer = world.fiber(queue_at(queue).thread).buffer;
  for (std::size_t i = 0; i < buffer.size(); ++i)
    if (buffer[i].queue == queue) return i;
  return kNone;
}

int StoreBuffers::flush_step(int queue) const {
  return ~(queue_at(queue).thread + kMostFibers * static_cast<int>(head(queue)));
}

// Stores of earlier epochs have to be in memory. Those of the last one are enough: they had to wait for the ones before.
void StoreBuffers::record_earlier(const Fiber& fiber, std::uint32_t epoch, std::int16_t me, Offers& offers) const {
  if (!world.reorders || epoch == 0) return;
  for (int queue = 0; queue < companions(); ++queue)
    if (queue_at(queue).thread == fiber.id) offers.record({AccessKind::LockedLoad, me, left(queue, epoch - 1), 0});
}

void StoreBuffers::offer(int queue, std::int16_t me, Offers& offers) const {
  const Fiber& fiber = world.fiber(queue_at(queue).thread);
  const std::size_t first = offers.recorded(), entry = head(queue);
  offers.record({AccessKind::LockedLoad, me, place(queue, queue_at(queue).left), 0});
  if (entry == kNone) return offers.block(first);
  const Buffered& store = fiber.buffer[entry];
  record_earlier(fiber, store.epoch, me, offers);
  if (world.reorders && !World::may_flush(fiber, entry)) return offers.block(first);
  Alternative way;
  way.label = ~queue;
  way.accesses = first;
  offers.record({AccessKind::LockedStore, me, left(queue, world.reorders ? store.epoch : 0), 0});
  offers.record({AccessKind::Store, me, store.number, 0});
  offers.add(way, false);
}

// On the heap, others may free the memory before.
void StoreBuffers::record_store(const Fiber& fiber, Offers& offers) const {
  const auto me = static_cast<std::int16_t>(fiber.id);
  const int queue = world.queue_of(fiber.id, fiber.wish.number);
  if (queue >= 0 && queue < companions())
    offers.record({AccessKind::LockedStore, me, place(queue, queue_at(queue).entered), 0});
  if (is_in_arena(fiber.wish.cell.address)) offers.record({AccessKind::Load, me, fiber.wish.number, 0});
}

void StoreBuffers::record_need(const Fiber& fiber, Offers& offers) const {
  const auto me = static_cast<std::int16_t>(fiber.id);
  for (int queue = 0; queue < companions(); ++queue) {
    if (queue_at(queue).thread != fiber.id) continue;
    for (std::uint32_t epoch = 0; epoch < (world.reorders ? kEpochs : 1); ++epoch)
      offers.record({AccessKind::LockedLoad, me, left(queue, epoch), 0});
  }
}

}  // namespace memfence::running
