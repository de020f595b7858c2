#include "certificate/languages.hpp"

#include <algorithm>
#include <set>

namespace memfence::certificate {

Symbol Alphabet::number(Number variable, Number value) {
  const auto [place, is_new] = numbers_.emplace(std::pair(variable, value), static_cast<Symbol>(stores_.size()));
  if (is_new) stores_.emplace_back(variable, value);
  return place->second;
}

bool Words::has_empty() const {
  return std::any_of(starts.begin(), starts.end(), [&](int node) { return accepts(node); });
}

bool Words::has_any() const {
  std::vector<char> seen(moves.size(), 0);
  std::vector<int> waiting = starts;
  while (!waiting.empty()) {
    const int node = waiting.back();
    waiting.pop_back();
    if (accepts(node)) return true;
    if (std::exchange(seen[static_cast<std::size_t>(node)], 1) != 0) continue;
    for (const auto& [_, target] : leaving(node)) waiting.push_back(target);
  }
  return false;
}

int Words::add_node() {
  moves.emplace_back();
  accepting.push_back(0);
  return static_cast<int>(moves.size()) - 1;
}

Words empty_word() { return {{0}, {{}}, {1}}; }

// Node n stands for n with nothing read so far, node n + count for n with something read.
Words not_empty(const Words& words) {
  const int count = static_cast<int>(words.moves.size());
  Words found{words.starts, {}, {}};
  for (int part = 0; part < 2; ++part)
    for (int node = 0; node < count; ++node) {
      const int here = found.add_node();
      for (const auto& [symbol, target] : words.leaving(node))
        found.moves[static_cast<std::size_t>(here)].emplace_back(symbol, target + count);
      found.accepting[static_cast<std::size_t>(here)] = part == 1 && words.accepts(node) ? 1 : 0;
    }
  return found;
}

namespace {

// The same words, each node with the newest value of a variable on the way to it.
struct WithValues {
  Words words;
  std::vector<Newest> values;    // by node
  std::vector<char> was_accepting;
};

WithValues with_values(const Words& words, const Alphabet& alphabet, int variable) {
  WithValues found;
  std::map<std::pair<int, Newest>, int> numbers;
  std::vector<std::pair<int, Newest>> waiting;
  const auto number = [&](int node, const Newest& newest) {
    const auto known = numbers.find({node, newest});
    if (known != numbers.end()) return known->second;
    const int here = found.words.add_node();
    numbers.emplace(std::pair(node, newest), here);
    found.values.push_back(newest);
    found.was_accepting.push_back(words.accepts(node) ? 1 : 0);
    waiting.emplace_back(node, newest);
    return here;
  };
  for (const int node : words.starts) found.words.starts.push_back(number(node, std::nullopt));
  while (!waiting.empty()) {
    const auto [node, newest] = waiting.back();
    waiting.pop_back();
    const int here = number(node, newest);
    for (const auto& [symbol, target] : words.leaving(node)) {
      const bool is_newer = symbol != kSeparator && alphabet.store(symbol).first == variable;
      const int there = number(target, is_newer ? Newest(alphabet.store(symbol).second) : newest);
      found.words.moves[static_cast<std::size_t>(here)].emplace_back(symbol, there);
    }
  }
  return found;
}

// Where one or more separators lead.
std::set<int> behind_separators(const Words& words, std::vector<int> waiting) {
  std::set<int> found;
  while (!waiting.empty()) {
    const int node = waiting.back();
    waiting.pop_back();
    for (const auto& [symbol, target] : words.leaving(node))
      if (symbol == kSeparator && found.insert(target).second) waiting.push_back(target);
  }
  return found;
}

}  // namespace

std::vector<Newest> newest_values(const Words& words, const Alphabet& alphabet, int variable) {
  const WithValues valued = with_values(words, alphabet, variable);
  std::set<Newest> found;
  for (std::size_t node = 0; node < valued.values.size(); ++node)
    if (valued.was_accepting[node] != 0) found.insert(valued.values[node]);
  return {found.begin(), found.end()};
}

Words with_newest(const Words& words, const Alphabet& alphabet, int variable, const Newest& wanted) {
  WithValues valued = with_values(words, alphabet, variable);
  for (std::size_t node = 0; node < valued.values.size(); ++node)
    valued.words.accepting[node] = valued.was_accepting[node] != 0 && valued.values[node] == wanted ? 1 : 0;
  return std::move(valued.words);
}

Words append(const Words& words, const std::vector<Symbol>& word) {
  if (word.empty()) return words;
  Words found = words;
  int here = found.add_node();
  for (std::size_t node = 0; node < words.moves.size(); ++node)
    if (words.accepting[node] != 0) found.moves[node].emplace_back(word[0], here);
  std::fill(found.accepting.begin(), found.accepting.end(), 0);
  for (std::size_t n = 1; n < word.size(); ++n) {
    const int next = found.add_node();
    found.moves[static_cast<std::size_t>(here)].emplace_back(word[n], next);
    here = next;
  }
  found.accepting[static_cast<std::size_t>(here)] = 1;
  return found;
}

Words without_first(const Words& words, Symbol symbol) {
  Words found{{}, words.moves, words.accepting};
  for (const int node : words.starts)
    for (const auto& [one, target] : words.leaving(node))
      if (one == symbol) found.starts.push_back(target);
  return found;
}

// Node n stands for n before the store was taken out, node n + count for n after that.
Words overtaken(const Words& words, const Alphabet& alphabet, Symbol symbol) {
  const int count = static_cast<int>(words.moves.size());
  const auto ways = [&](int target) {
    std::vector<int> found{target};
    for (const auto& [one, after] : words.leaving(target))
      if (one == symbol) found.push_back(after + count);
    return found;
  };
  Words found;
  for (int node = 0; node < 2 * count; ++node) found.add_node();
  for (int node = 0; node < count; ++node) {
    auto &before = found.moves[static_cast<std::size_t>(node)], &after = found.moves[static_cast<std::size_t>(node + count)];
    for (const auto& [one, target] : words.leaving(node)) {
      after.emplace_back(one, target + count);
      if (one != kSeparator && alphabet.store(one).first != alphabet.store(symbol).first)
        for (const int way : ways(target)) before.emplace_back(one, way);
    }
    found.accepting[static_cast<std::size_t>(node + count)] = words.accepting[static_cast<std::size_t>(node)];
  }
  for (const int node : words.starts)
    for (const int way : ways(node)) found.starts.push_back(way);
  return found;
}

// Node n + count stands for n right behind a separator.
Words merged(const Words& words) {
  const int count = static_cast<int>(words.moves.size());
  Words found{words.starts, {}, {}};
  for (int node = 0; node < 2 * count; ++node) found.add_node();
  for (int node = 0; node < count; ++node) {
    auto &plain = found.moves[static_cast<std::size_t>(node)], &behind = found.moves[static_cast<std::size_t>(node + count)];
    for (const auto& [symbol, target] : words.leaving(node))
      if (symbol != kSeparator) behind.emplace_back(symbol, target);
    plain = behind;
    for (const int after : behind_separators(words, {node})) plain.emplace_back(kSeparator, after + count);
    found.accepting[static_cast<std::size_t>(node)] = found.accepting[static_cast<std::size_t>(node + count)] =
        words.accepting[static_cast<std::size_t>(node)];
  }
  return found;
}

Words settled(const Words& words) {
  std::set<int> closed = behind_separators(words, words.starts);
  closed.insert(words.starts.begin(), words.starts.end());
  Words found = words;
  const int first = found.add_node();
  for (const int node : closed) {
    for (const auto& [symbol, target] : words.leaving(node))
      if (symbol != kSeparator) found.moves[static_cast<std::size_t>(first)].emplace_back(symbol, target);
    if (words.accepts(node)) found.accepting[static_cast<std::size_t>(first)] = 1;
  }
  found.starts = {first};
  return found;
}

bool includes(const Words& larger, const Words& smaller) {
  constexpr int kNowhere = -1;
  std::set<std::pair<int, int>> seen;
  std::vector<std::pair<int, int>> waiting;
  const auto visit = [&](int node, int twin) {
    if (seen.emplace(node, twin).second) waiting.emplace_back(node, twin);
  };
  for (const int node : smaller.starts) visit(node, larger.starts.at(0));
  while (!waiting.empty()) {
    const auto [node, twin] = waiting.back();
    waiting.pop_back();
    if (smaller.accepts(node) && (twin == kNowhere || !larger.accepts(twin))) return false;
    for (const auto& [symbol, target] : smaller.leaving(node)) {
      int there = kNowhere;
      if (twin != kNowhere)
        for (const auto& [one, next] : larger.leaving(twin))
          if (one == symbol) there = next;
      visit(target, there);
    }
  }
  return true;
}

}  // namespace memfence::certificate
