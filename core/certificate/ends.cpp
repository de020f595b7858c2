#include "certificate/ends.hpp"

#include <algorithm>

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
  for (int p = 0; p < static_cast<int>(passing_.size()); ++p) {
    if (!passing_[static_cast<std::size_t>(p)][static_cast<std::size_t>(state[p])]) continue;
    std::vector<std::pair<Outcome, std::vector<Number>>> after;  // a step that fails keeps nobody from another one
    steps_.for_each_of(state, p, nullptr, [&](const Step&, Outcome outcome, const Number* next) {
      if (outcome == Outcome::Done)
        after.emplace_back(outcome, std::vector<Number>(next, next + end_.size()));
      else
        after.emplace_back(Outcome::Failed, std::vector<Number>());
      return true;
    });
    for (const auto& [outcome, next] : after)
      if (!(outcome == Outcome::Done ? for_each(next.data(), step, visit) : visit(outcome, state))) return false;
    if (!after.empty() || is_forgotten(state, step, p)) return true;
  }
  if (leaves_nothing_out()) return visit(Outcome::Done, state);
  std::copy_n(state, end_.size(), end_.begin());
  for (std::size_t p = 0; p < dead_.size(); ++p)
    for (const Default& dead : dead_[p][static_cast<std::size_t>(state[p])])
      end_[static_cast<std::size_t>(dead.place)] = dead.value;
  alike_.sort(end_.data());
  return visit(Outcome::Done, end_.data());
}

}  // namespace memfence::certificate
