#include "certificate/triangular.hpp"

#include <algorithm>
#include <new>

#include "certificate/initial.hpp"

namespace memfence::certificate {

namespace {

constexpr std::size_t kMark = 4;  // bytes

}  // namespace

Triangular::Triangular(Program program, const Program& under_tso)
    : program_(std::move(program)),
      layout_(program_, sc_, 0),
      steps_(program_, sc_, layout_),
      events_(program_, sc_, layout_),
      rows_width_(layout_.width() + kMark * program_.processes.size()),
      rows_(rows_width_),
      row_(rows_width_),
      marks_(program_.processes.size()),
      exposed_(program_.variables.size()),
      written_(program_.variables.size()) {
  if (program_.processes.size() > 64) throw Unsupported("there are more than 64 processes");
  for (const Process& process : under_tso.processes) {
    std::vector<Reading>& readings = readings_.emplace_back();
    for (const Transition& t : process.transitions) {
      const auto drains = [](const Op& op) { return op.kind == OpKind::Mfence; };
      const bool is_locked = t.locked || t.takes_bus;
      readings.push_back({is_locked || std::any_of(t.ops.begin(), t.ops.end(), drains), is_locked});
    }
  }
}

bool Triangular::read(const unsigned char* row, Pair& pair) const {
  const std::size_t places = static_cast<std::size_t>(layout_.places());
  pair.resize(places + program_.processes.size());
  const unsigned char* mark = row + layout_.width();
  for (std::size_t p = 0; p < program_.processes.size(); ++p) {
    std::uint32_t value = 0;
    for (std::size_t n = 0; n < kMark; ++n) value = value << 8 | *mark++;
    pair[places + p] = value;
  }
  return layout_.read(row, pair.data());
}

void Triangular::write(const Number* state, const Number* marks) {
  if (!layout_.write(state, row_.data())) throw Unsupported("a state of SC has no row");
  unsigned char* mark = row_.data() + layout_.width();
  for (std::size_t p = 0; p < program_.processes.size(); ++p)
    for (std::size_t n = kMark; n > 0; --n) *mark++ = static_cast<unsigned char>(marks[p] >> (8 * (n - 1)));
}

Finding Triangular::found(Condition condition, const unsigned char* row) const {
  return {condition, std::string(row, row + layout_.width()), false, {}};
}

Finding Triangular::add(const unsigned char* block, std::size_t size) {
  const std::size_t count = size / rows_width_;
  if (count == 0 || count * rows_width_ != size || rows_.size() + count > kMostRows) return {Condition::Shape, "", false, {}};
  Pair pair;
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t byte = 0; byte < rows_width_; ++byte) row_[byte] = block[byte * count + n];
    if (!read(row_.data(), pair)) return found(Condition::Shape, row_.data());
    if (!rows_.append(row_.data())) return found(Condition::Order, row_.data());
  }
  return {};
}

template <class Visit>
bool Triangular::for_each(const Pair& pair, Visit&& visit) {
  const Number* const marks = pair.data() + layout_.places();
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p) {
    const Process& process = program_.processes[static_cast<std::size_t>(p)];
    for (const int number : process.leaving[static_cast<std::size_t>(pair[static_cast<std::size_t>(p)])]) {
      const Step step{Step::Kind::Run, p, number};
      const Outcome outcome = steps_.take(pair.data(), p, number, &made_);
      if (outcome == Outcome::Blocked) continue;
      if (outcome == Outcome::Done) {
        std::copy_n(marks, marks_.size(), marks_.begin());
        Number& mark = marks_[static_cast<std::size_t>(p)];
        for (const Access& access : made_)
          if (access.writes) mark = access.variable + 1;
        if (is_fence(step, pair)) mark = 0;
        write(steps_.after(), marks_.data());
      }
      if (!visit(step, outcome)) return false;
    }
  }
  return true;
}

Finding Triangular::check() {
  rows_.index();
  Finding finding;
  const std::vector<Number> none(program_.processes.size(), 0);
  for_each_initial(program_, static_cast<std::size_t>(layout_.places()), [&](const Number* state) {
    write(state, none.data());
    if (!rows_.contains(row_.data())) finding = found(Condition::Initial, row_.data());
    return finding.condition == Condition::None;
  });
  Pair pair;
  for (std::size_t n = 0; n < rows_.size() && finding.condition == Condition::None; ++n) {
    read(rows_.row(n), pair);
    for_each(pair, [&](const Step& step, Outcome outcome) {
      if (outcome == Outcome::Failed || rows_.contains(row_.data())) return true;
      finding = found(Condition::Closed, rows_.row(n));
      finding.has_step = true;
      finding.step = step;
      return false;
    });
  }
  for (std::size_t n = 0; n < rows_.size() && finding.condition == Condition::None; ++n) {
    read(rows_.row(n), pair);
    if (is_race(pair)) finding = found(Condition::Race, rows_.row(n));
  }
  return finding;
}

// A plain step reads a variable with an unfenced store to another one behind it, or with one of its own to come, while another
// process is about to write that variable.
bool Triangular::is_race(const Pair& pair) {
  std::fill(exposed_.begin(), exposed_.end(), 0);
  std::fill(written_.begin(), written_.end(), 0);
  if (Events::is_held(program_, pair.data())) return false;
  for (int p = 0; p < static_cast<int>(program_.processes.size()); ++p)
    events_.for_each_of(pair.data(), p, [&](int number, const Events::Event& event) {
      note({Step::Kind::Run, p, number}, event.made, pair[static_cast<std::size_t>(layout_.places() + p)]);
      return true;
    });
  for (std::size_t v = 0; v < exposed_.size(); ++v)
    for (std::uint64_t rest = exposed_[v]; rest != 0; rest &= rest - 1)
      if ((written_[v] & ~(rest & -rest)) != 0) return true;
  return false;
}

// What an event that begins with `step` writes, and reads with a store behind it; `mark`: the newest unfenced store before it.
void Triangular::note(const Step& step, const std::vector<Access>& made, Number mark) {
  const std::uint64_t bit = std::uint64_t{1} << step.process;
  bool stores = std::any_of(made.begin(), made.end(), [](const Access& access) { return access.writes; });
  Number last = reading(step).fences ? 0 : mark;
  for (const Access& access : made) {
    const auto variable = static_cast<std::size_t>(access.variable);
    if (access.writes) {
      written_[variable] |= bit;
      last = access.variable + 1;
      stores = false;  // what follows has the store behind it
    } else if (!reading(step).locked && (stores || (last != 0 && last != access.variable + 1))) {
      exposed_[variable] |= bit;
    }
  }
}

std::vector<std::string> Triangular::reachable(std::size_t most_bytes) {
  ByteStrings seen;
  const auto visit = [&] {
    seen.insert({reinterpret_cast<const char*>(row_.data()), row_.size()});
    if (seen.bytes() + seen.size() * (sizeof(std::string) + rows_width_) > most_bytes) throw std::bad_alloc();
  };
  const std::vector<Number> none(program_.processes.size(), 0);
  for_each_initial(program_, static_cast<std::size_t>(layout_.places()), [&](const Number* state) {
    write(state, none.data());
    visit();
    return true;
  });
  Pair pair;
  for (std::size_t n = 0; n < seen.size(); ++n) {
    read(reinterpret_cast<const unsigned char*>(seen.at(n).data()), pair);
    for_each(pair, [&](const Step&, Outcome outcome) {
      if (outcome == Outcome::Done) visit();
      return true;
    });
  }
  std::vector<std::string> rows;
  for (std::size_t n = 0; n < seen.size(); ++n) rows.emplace_back(seen.at(n));
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace memfence::certificate
