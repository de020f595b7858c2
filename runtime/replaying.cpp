#include "replaying.hpp"

#include <stdlib.h>
#include <unistd.h>

#include "leaks.hpp"
#include "pages.hpp"
#include "report.hpp"

namespace memfence::running {

namespace {

std::string content_of(int descriptor) {
  std::string text;
  char piece[1 << 14];
  ssize_t count = 0;
  while ((count = pread(descriptor, piece, sizeof(piece), static_cast<off_t>(text.size()))) > 0)
    text.append(piece, static_cast<std::size_t>(count));
  return text;
}

class Numbers {
 public:
  explicit Numbers(std::string text) : text_(std::move(text)), at_(text_.data()) {}
  long long next() { return strtoll(at_, &at_, 10); }

 private:
  std::string text_;
  char* at_;
};

void read_layout(Numbers& numbers) {
  for (auto count = numbers.next(); count > 0; --count) {
    const auto parent = static_cast<int>(numbers.next());
    world.identify(parent, static_cast<int>(numbers.next()));
  }
  for (auto count = numbers.next(); count > 0; --count) {
    auto* address = reinterpret_cast<void*>(numbers.next());
    world.cells.expect(address, static_cast<std::size_t>(numbers.next()));
  }
  for (auto count = numbers.next(); count > 0; --count) world.expect_loop(reinterpret_cast<void*>(numbers.next()));
  world.cells.learns = false;
}

// Whether the next load of some thread could miss a store.
std::optional<StaleLoad> next_stale_load() {
  for (int id = 0; id < world.known_threads(); ++id)
    if (const auto found = find_stale_load(world.log, world.known_threads(), world.cells.numbered(), id)) return found;
  return std::nullopt;
}

std::string leaks_text(const std::vector<int>& steps) {
  Leaks leaks;
  if (!world.has_ended && world.is_done(0)) leaks.look(steps);
  std::string out;
  for (const Leak& leak : leaks.all)
    out += (out.empty() ? "" : ", ") +
           Record("leak").add("pc", leak.pc).add("bytes", static_cast<std::uint64_t>(leak.bytes)).raw("steps", "[]").text();
  return "[" + out + "]";
}

}  // namespace

void replay(const Options& options, int descriptor) {
  Numbers numbers(content_of(descriptor));
  read_layout(numbers);
  std::vector<int> steps;
  for (auto count = numbers.next(); count > 0; --count) steps.push_back(static_cast<int>(numbers.next()));
  world.simulates = options.buffers;
  world.logs = true;
  world.reset();
  const std::size_t taken = take_steps(steps);
  if (is_stuck()) world.blame_endless();
  Record record("replayed");
  record.add("taken", static_cast<std::uint64_t>(taken))
      .add("of", static_cast<std::uint64_t>(steps.size()))
      .add("overlooked", world.cells.overlooked)
      .add("load_address", load_address());
  if (world.failure.kind != Finding::None)
    add_failure(record, world.failure);
  else if (is_stuck())
    record.add("kind", "deadlock");
  else if (const auto stale = options.buffers ? std::nullopt : next_stale_load())
    record.add("kind", "borderline").add("reader", stale->reader);
  record.raw("leaks", leaks_text(steps)).raw("events", events_text()).raw("waiting", waiting_text()).send();
}

}  // namespace memfence::running
