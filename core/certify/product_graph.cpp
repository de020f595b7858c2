#include "certify/product_graph.hpp"

#include "certificate/initial.hpp"

namespace memfence::certificate {

namespace {

void add_mark(MarkSet& set, int mark) {
  set[static_cast<std::size_t>(mark) / 64] |= std::uint64_t{1} << (static_cast<unsigned>(mark) % 64);
}

void add_all(MarkSet& set, const MarkSet& others) {
  for (std::size_t n = 0; n < set.size(); ++n) set[n] |= others[n];
}

}  // namespace

ProductGraph::ProductGraph(const std::string& program, const Model& model, int capacity, Refuting refuting)
    : product_(program, model, capacity, std::move(refuting)),
      states_(product_.layout().width()),
      state_(static_cast<std::size_t>(product_.layout().places())) {
  const MarkSet none((static_cast<std::size_t>(product_.marks()) + 63) / 64, 0);
  for (const std::vector<Move>& leaving : product_.refuting().nodes) {
    first_moves_.push_back(static_cast<std::uint32_t>(moves_.size()));
    for (const Move& move : leaving) {
      moves_.push_back(&move);
      move_marks_.push_back(none);
      for (const int mark : move.marks) add_mark(move_marks_.back(), mark);
    }
  }
  first_moves_.push_back(static_cast<std::uint32_t>(moves_.size()));
  std::vector<unsigned char> row(product_.layout().width());
  for_each_initial(product_.program(), static_cast<std::size_t>(product_.layout().places()), [&](const Number* state) {
    if (!product_.layout().write(state, row.data())) throw Unsupported("an initial state has no row");
    pair_of(state_of(row.data()), product_.refuting().initial);
    return true;
  });
}

std::size_t ProductGraph::bytes() const {
  return states_.bytes() + last_pair_.capacity() * sizeof(std::uint32_t) + known_.capacity() * sizeof(Known) +
         successors_.capacity() * sizeof(Reached) + pairs_.capacity() * sizeof(Pair) + edges_.capacity() * sizeof(Edge) +
         first_edges_.capacity() * sizeof(std::size_t);
}

bool ProductGraph::explore(std::size_t count) {
  for (; count > 0 && first_edges_.size() <= pairs_.size(); --count) {
    explore_pair(pairs_[first_edges_.size() - 1]);
    first_edges_.push_back(edges_.size());
  }
  return first_edges_.size() > pairs_.size();
}

void ProductGraph::explore_pair(Pair pair) {
  if (known_[pair.state].successors == 0) learn(pair.state);
  const Known known = known_[pair.state];
  const std::vector<std::uint32_t>& moves = possible(known.truth, pair.node);
  for (std::size_t successor = known.first_successor; successor < known.first_successor + known.successors; ++successor)
    for (const std::uint32_t move : moves)
      edges_.push_back({pair_of(successors_[successor].state, moves_[move]->target), move, successors_[successor].met});
}

void ProductGraph::learn(std::uint32_t state) {
  product_.layout().read(reinterpret_cast<const unsigned char*>(states_.row(state).data()), state_.data());
  product_.enter(state_.data());
  Known known;
  const auto [truth, is_new] = truth_numbers_.emplace(product_.truth(), static_cast<std::uint32_t>(truths_.size()));
  if (is_new) truths_.push_back(truth->first);
  known.truth = truth->second;
  known.first_successor = successors_.size();
  for (const Successor& successor : product_.successors()) {
    if (!successor.row) throw Unsupported("a state has more pending stores than there is room for");
    successors_.push_back({state_of(product_.row(successor)), met_by(successor)});
  }
  known.successors = static_cast<std::uint32_t>(successors_.size() - known.first_successor);
  known_[state] = known;
}

std::uint32_t ProductGraph::state_of(const unsigned char* row) {
  const std::uint32_t number = states_.number_of(row);
  if (number == known_.size()) {
    known_.emplace_back();
    last_pair_.push_back(kNoPair);
  }
  return number;
}

std::uint32_t ProductGraph::pair_of(std::uint32_t state, int node) {
  for (std::uint32_t pair = last_pair_[state]; pair != kNoPair; pair = pairs_[pair].before)
    if (pairs_[pair].node == static_cast<std::uint32_t>(node)) return pair;
  if (pairs_.size() >= kNoPair) throw Unsupported("there are too many pairs");
  pairs_.push_back({state, static_cast<std::uint32_t>(node), last_pair_[state]});
  return last_pair_[state] = static_cast<std::uint32_t>(pairs_.size() - 1);
}

// The conditions of fairness that a step meets, as the number of a set.
std::uint32_t ProductGraph::met_by(const Successor& successor) {
  MarkSet met((static_cast<std::size_t>(product_.marks()) + 63) / 64, 0);
  for (int mark = product_.refuting().marks; mark < product_.marks(); ++mark)
    if (product_.meets(successor, mark)) add_mark(met, mark);
  const auto [at, is_new] = met_numbers_.emplace(std::move(met), static_cast<std::uint32_t>(mets_.size()));
  if (is_new) mets_.push_back(at->first);
  return at->second;
}

// The moves of a node that are possible where the atoms have certain values.
const std::vector<std::uint32_t>& ProductGraph::possible(std::uint32_t truth, std::uint32_t node) {
  const auto [at, is_new] = possible_.try_emplace({truth, node});
  if (!is_new) return at->second;
  for (std::uint32_t move = first_moves_[node]; move < first_moves_[node + 1]; ++move)
    if (is_possible(*moves_[move], truths_[truth])) at->second.push_back(move);
  return at->second;
}

void ProductGraph::add_marks(std::size_t edge, MarkSet& set) const {
  add_all(set, move_marks_[edges_[edge].move]);
  add_all(set, mets_[edges_[edge].met]);
}

}  // namespace memfence::certificate
