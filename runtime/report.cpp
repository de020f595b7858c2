#include "report.hpp"

#include <unistd.h>

#include "complain.hpp"
#include "pages.hpp"

namespace memfence::running {

namespace {

std::string quoted(const char* text) {
  std::string out = "\"";
  for (; *text != '\0'; ++text) {
    const auto byte = static_cast<unsigned char>(*text);
    if (byte == '"' || byte == '\\') out += '\\';
    out += byte < 32 ? ' ' : *text;
  }
  return out + "\"";
}

const char* kind_of(const Logged& line) {
  if (line.is_flush) return "flush";
  switch (line.wish.what) {
    case Wish::What::Begin: return "begin";
    case Wish::What::Synchronise: return "call";
    case Wish::What::Fence: return "fence";
    case Wish::What::End: return "end";
    case Wish::What::Choice: return "rmw";
    case Wish::What::Nothing: return "failure";
    case Wish::What::Access: break;
  }
  if (line.wish.name != nullptr) return "call";
  switch (line.wish.kind) {
    case AccessKind::Load: return "load";
    case AccessKind::Store: return "store";
    default: return "rmw";
  }
}

std::string wish_text(const Logged& line, bool has_value) {
  const Wish& wish = line.wish;
  std::string out = "{\"t\": " + std::to_string(line.thread) + ", \"k\": \"" + kind_of(line) + "\"";
  const auto add = [&](const char* name, std::uint64_t value) {
    out += std::string(", \"") + name + "\": " + std::to_string(value);
  };
  if (wish.cell.address != nullptr) add("a", reinterpret_cast<std::uint64_t>(wish.cell.address));
  if (wish.cell.size != 0) add("s", wish.cell.size);
  if (wish.number >= 0) add("n", static_cast<std::uint64_t>(wish.number));
  if (has_value) add("v", line.value);
  if (wish.pc != nullptr) add("pc", reinterpret_cast<std::uint64_t>(wish.pc));
  if (wish.name != nullptr) out += ", \"name\": " + quoted(wish.name);
  out += std::string(", \"op\": ") + std::to_string(static_cast<int>(wish.kind));
  if (wish.is_atomic) out += ", \"atomic\": true";
  if (wish.spins) out += ", \"spins\": true";
  if (line.event >= 0) add("e", static_cast<std::uint64_t>(line.event));
  if (line.choice != 0) out += ", \"spurious\": true";
  out += ", \"calls\": [";
  for (std::size_t i = line.calls; i < line.calls_end; ++i)
    out += (i > line.calls ? ", " : "") + std::to_string(reinterpret_cast<std::uint64_t>(world.call_log[i]));
  out += "]";
  if (line.more != line.more_end) {
    out += ", \"more\": [";
    for (std::size_t i = line.more; i < line.more_end; ++i)
      out += (i > line.more ? ", " : "") + std::to_string(world.access_log[i].number);
    out += "]";
  }
  return out + "}";
}

}  // namespace

const char* name_of(Finding finding) {
  switch (finding) {
    case Finding::None: return "none";
    case Finding::Assertion: return "assertion";
    case Finding::Abort: return "abort";
    case Finding::Signal: return "signal";
    case Finding::Error: return "error";
    case Finding::Terminate: return "terminate";
    case Finding::Panic: return "panic";
    case Finding::Exception: return "exception";
    case Finding::Trap: return "trap";
    case Finding::Unreachable: return "unreachable";
    case Finding::Crash: return "crash";
    case Finding::StackOverflow: return "stack overflow";
    case Finding::DoubleFree: return "double free";
    case Finding::BadFree: return "bad free";
    case Finding::UseAfterFree: return "use after free";
    case Finding::Arithmetic: return "undefined arithmetic";
    case Finding::UseAfterEnd: return "use after the end of a thread";
    case Finding::OutOfBounds: return "out of bounds";
    case Finding::ExitStatus: return "exit status";
    case Finding::EndlessLoop: return "endless loop";
    case Finding::Unsupported: return "unsupported";
    case Finding::Misuse: return "misuse";
  }
  return "";
}

Record& Record::add(const char* name, const char* value) { return raw(name, quoted(value)); }

Record& Record::raw(const char* name, const std::string& value) {
  text_ += std::string(", \"") + name + "\": " + value;
  return *this;
}

void Record::send() const { send_text(text()); }

void send_text(const std::string& text) {
  const std::string line = text + "\n";
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = write(report_descriptor < 0 ? 2 : report_descriptor, line.data() + sent, line.size() - sent);
    if (count < 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

void add_failure(Record& record, const Failure& failure) {
  record.add("kind", name_of(failure.kind))
      .add("message", failure.message)
      .add("thread", failure.thread)
      .add("status", failure.status)
      .add("pc", static_cast<const void*>(failure.pc));
  if (failure.function != nullptr) record.add("function", failure.function);
}

std::string step_text(const Logged& line) { return wish_text(line, line.has_value); }

std::string steps_text(const std::vector<int>& steps) {
  std::string out = "[";
  for (std::size_t i = 0; i < steps.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(steps[i]);
  return out + "]";
}

std::string events_text() {
  std::string out = "[";
  for (std::size_t i = 0; i < world.log.size(); ++i) {
    if (i > 0) out += ", ";
    out += wish_text(world.log[i], world.log[i].has_value);
  }
  return out + "]";
}

std::string waiting_text() {
  std::string out = "[";
  for (int id = 0; id < world.known_threads(); ++id) {
    if (world.is_done(id) || world.is_unborn(id)) continue;
    const Fiber& fiber = world.fiber(id);
    const std::size_t first = world.call_log.size();
    for (std::size_t i = fiber.calls.size(); i-- > 0;) world.call_log.push_back(fiber.calls[i]);
    Logged line{id, fiber.wish, 0, false, first, world.call_log.size(), 0, 0, false, 0, -1};
    if (out.size() > 1) out += ", ";
    out += wish_text(line, false);
  }
  return out + "]";
}

void send_layout() {
  std::string threads = "[", cells = "[", loops = "[";
  for (int id = 0; id < world.known_threads(); ++id) {
    int parent = 0, index = 0;
    world.identity(id, parent, index);
    threads += (id > 0 ? ", [" : "[") + std::to_string(parent) + ", " + std::to_string(index) + "]";
  }
  for (int i = 0; i < world.cells.numbered(); ++i) {
    const Cell& cell = world.cells.shared(i);
    cells += (i > 0 ? ", [" : "[") + std::to_string(reinterpret_cast<std::uint64_t>(cell.address)) + ", " +
             std::to_string(cell.size) + "]";
  }
  for (std::size_t i = 0; i < world.loops().size(); ++i)
    loops += (i > 0 ? ", " : "") + std::to_string(reinterpret_cast<std::uint64_t>(world.loops()[i]));
  std::string unguarded = "[";
  for (const Guards::Claim& claim : world.guards.refuted()) {
    const void* address = claim.cell < 0 ? nullptr : world.cells.shared(claim.cell).address;
    unguarded += (unguarded.size() > 1 ? ", [" : "[") + std::to_string(reinterpret_cast<std::uint64_t>(address)) + ", " +
                 std::to_string(reinterpret_cast<std::uint64_t>(claim.mutex)) + "]";
  }
  Record("layout")
      .add("load_address", load_address())
      .raw("threads", threads + "]")
      .raw("cells", cells + "]")
      .raw("loops", loops + "]")
      .raw("unguarded", unguarded + "]")
      .send();
}

}  // namespace memfence::running
