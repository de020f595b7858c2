#include "certificate/ends.hpp"

#include <algorithm>
#include <set>

namespace memfence::certificate {

namespace {

std::vector<char> flags(const std::vector<int>& numbers, std::size_t count) {
  std::vector<char> out(count, 0);
  for (const int number : numbers) out.at(static_cast<std::size_t>(number)) = 1;
  return out;
}

}  // namespace

Ends::Ends(const Program& program, const Model& model, const Layout& layout, const LeftOut& left_out)
    : program_(program),
      steps_(program, model, layout),
      alike_(program, layout, left_out.alike),
      end_(static_cast<std::size_t>(layout.places())) {
  if (left_out.passing.empty()) return;
  for (std::size_t p = 0; p < program.processes.size(); ++p) {
    const Process& process = program.processes[p];
    passing_.push_back(flags(left_out.passing.at(p), process.locations.size()));
    quiet_.push_back(flags(left_out.quiet.at(p), process.transitions.size()));
    forgotten_.push_back(flags(left_out.forgotten.at(p), process.locations.size()));
    std::vector<std::vector<Default>>& dead = dead_.emplace_back(process.locations.size());
    for (std::size_t location = 0; location < dead.size(); ++location)
      for (const int number : left_out.dead.at(p).at(location)) {
        const auto n = static_cast<std::size_t>(number);
        const Domain& domain = process.registers.at(n).domain;
        dead[location].push_back({process.places.at(n), std::max(domain.lo, std::min(domain.hi, Number{0}))});
      }
  }
}

bool Ends::is_forgotten(const Number* state, const Step* step, int process) const {
  if (step == nullptr || step->kind != Step::Kind::Run || step->process != process) return false;
  const auto p = static_cast<std::size_t>(process);
  return forgotten_[p][static_cast<std::size_t>(state[process])] && quiet_[p][static_cast<std::size_t>(step->number)];
}

bool Ends::for_each(const Number* state, const Step* step, const Visit& visit) {
  if (leaves_nothing_out()) return visit(Outcome::Done, state);
  After after;
  if (!leave(state, step, after)) return visit_end(state, visit);
  std::set<std::vector<Number>> seen;
  std::vector<const std::vector<Number>*> waiting;
  const auto go_on = [&](const Number* from) {
    for (auto& [outcome, next] : after)
      if (outcome != Outcome::Done && !visit(outcome, from)) return false;
    for (auto& [outcome, next] : after)
      if (outcome == Outcome::Done)
        if (const auto [place, is_new] = seen.insert(std::move(next)); is_new) waiting.push_back(&*place);
    if (waiting.size() >= kMostPassed) throw TooLarge("local steps lead to too many places");
    return true;
  };
  if (!go_on(state)) return false;
  for (std::size_t n = 0; n < waiting.size(); ++n) {
    const Number* here = waiting[n]->data();
    after.clear();
    if (!(leave(here, step, after) ? go_on(here) : visit_end(here, visit))) return false;
  }
  return true;
}

bool Ends::leave(const Number* state, const Step* step, After& after) {
  for (int p = 0; p < static_cast<int>(passing_.size()); ++p) {
    if (!passing_[static_cast<std::size_t>(p)][static_cast<std::size_t>(state[p])]) continue;
    steps_.for_each_of(state, p, nullptr, [&](const Step&, Outcome outcome, const Number* next) {
      if (outcome == Outcome::Done)
        after.emplace_back(outcome, std::vector<Number>(next, next + end_.size()));
      else
        after.emplace_back(Outcome::Failed, std::vector<Number>());  // it keeps nobody from another one
      return true;
    });
    if (!after.empty() || is_forgotten(state, step, p)) return true;
  }
  return false;
}

bool Ends::visit_end(const Number* state, const Visit& visit) {
  std::copy_n(state, end_.size(), end_.begin());
  for (std::size_t p = 0; p < dead_.size(); ++p)
    for (const Default& dead : dead_[p][static_cast<std::size_t>(state[p])])
      end_[static_cast<std::size_t>(dead.place)] = dead.value;
  alike_.sort(end_.data());
  return visit(Outcome::Done, end_.data());
}

}  // namespace memfence::certificate
