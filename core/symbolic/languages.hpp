// Sets of store-buffer contents: regular languages, each known by one number.
//
// A word is the content of one process's buffer in the order in which its stores were issued, oldest first; a symbol is
// a pending store (variable, value), or the separator that a PSO `sfence` leaves. Under TSO the first symbol commits.
// Under PSO any store may commit that no earlier symbol of its variable and no separator precedes: one word thus stands
// for the FIFOs of all variables at once, and the separators in them can never get out of step (docs/adr/0006).
//
// Equal languages have equal numbers, and every operation is remembered on numbers: the second time it is a table look-up.
//
// Languages are kept *closed under coalescing*. A pending store that is directly followed by one to the same variable may
// as well be absent: whoever commits it can commit its successor in the same breath, unseen, and no load can tell, since
// the newest store to every variable stays. So with a word, the word without that symbol is added. Under PSO "directly"
// means: within the same segment between separators. No word is added that some reachable content cannot imitate, so
// reachable control states stay exactly those of the memory model, and far more languages become equal or included.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "machine/expression.hpp"
#include "symbolic/automaton.hpp"

namespace memfence {

using Language = std::int32_t;

inline constexpr Language kNoWord = 0;     // the empty set
inline constexpr Language kDrained = 1;    // only the empty word
inline constexpr Symbol kSeparator = 0;

enum class StoreOrder : std::uint8_t { Total, Partial };  // TSO, PSO

class Languages {
 public:
  // `settles`: a separator that heads a buffer leaves it at once.
  Languages(StoreOrder order, bool settles);

  struct Entry {
    int variable;
    Value value;
    auto operator<=>(const Entry&) const = default;
  };
  Symbol symbol(int variable, Value value);
  Symbol symbols() const { return static_cast<Symbol>(entries_.size()); }
  const Entry& entry(Symbol symbol) const { return entries_[static_cast<std::size_t>(symbol)]; }

  const Dfa& dfa(Language l) const { return languages_[static_cast<std::size_t>(l)].dfa; }
  bool has_drained(Language l) const { return l != kNoWord && dfa(l).accepting[0]; }
  bool commits_out_of_order() const { return order_ == StoreOrder::Partial; }
  bool mentions(Language l, int variable) const;
  int shortest(Language l) const { return languages_[static_cast<std::size_t>(l)].shortest; }  // length of a word
  const std::vector<int>& variables(Language l) const { return languages_[static_cast<std::size_t>(l)].variables; }
  bool has_separator(Language l) const;

  // What a load of one variable may find: the words with each newest own value, and those without any.
  struct Loads {
    std::vector<std::pair<Value, Language>> own;  // by value
    Language none;
  };
  const Loads& loads(Language l, int variable);
  // The words on which a load of `variable` finds `value`; words without the variable are kept if `with_none`.
  Language restricted(Language l, int variable, Value value, bool with_none);

  // Every store that may commit next, and what is left, settled, of the words that allow it.
  struct Commit {
    Symbol symbol;
    Language rest;
  };
  const std::vector<Commit>& commits(Language l);
  // The words that a separator heads, without it. kNoWord: none.
  Language without_separator(Language l);

  // Results of these are closed. They do not settle: the result may be a part of a word.
  Language committed(Language l, Symbol symbol);  // kNoWord: it cannot commit
  Language append(Language l, Symbol symbol);
  Language concatenate(Language l, Language more);
  Language iterate(Language l, Language repeated);  // l . repeated*
  Language unite(Language a, Language b);
  Language close(Language l);

  // Let separators at the head go, if this set of languages does so; else `l`.
  Language settle(Language l);

  bool includes(Language larger, Language smaller);

  std::size_t count() const { return languages_.size(); }
  int largest() const { return largest_; }
  std::uint64_t bytes() const { return bytes_; }
  Language intern(const Dfa& minimal);
  Language of_word(const std::vector<Symbol>& word);

 private:
  struct Interned {
    Dfa dfa;
    std::vector<int> variables;  // that occur, sorted
    bool has_separator;
    int shortest;
  };
  struct PairHash {
    std::size_t operator()(std::uint64_t key) const {
      key ^= key >> 33;
      key *= 0xff51afd7ed558ccdULL;
      return static_cast<std::size_t>(key ^ (key >> 29));
    }
  };
  template <class T>
  using Memo = std::unordered_map<std::uint64_t, T, PairHash>;
  // What `make` gives, made once a key. It may use the same memo.
  template <class T, class Make>
  static T remembered(Memo<T>& memo, std::uint64_t key, Make&& make) {
    const auto found = memo.find(key);
    if (found != memo.end()) return found->second;
    const T made = make();
    memo.emplace(key, made);
    return made;
  }
  static std::uint64_t key(std::int32_t a, std::int32_t b) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32) | static_cast<std::uint32_t>(b);
  }

  Language intern(const Nfa& nfa) { return intern(nfa.minimal_dfa()); }
  Language closed_total(Language l);
  Language closed_partial(Language l);
  Language commit_first(Language l, Symbol symbol);
  Language commit_overtaking(Language l, Symbol symbol);

  StoreOrder order_;
  bool settles_;
  std::vector<Entry> entries_;
  std::map<Entry, Symbol> symbols_;
  std::deque<Interned> languages_;  // references stay valid while it grows
  std::unordered_map<std::string, Language> numbers_;
  int largest_ = 0;
  std::uint64_t bytes_ = 0;

  Memo<Loads> loads_;
  Memo<Language> committed_, append_, concatenate_, iterate_, unite_;
  Memo<std::uint8_t> includes_;
  std::unordered_map<Language, std::vector<Commit>> commits_;
  std::unordered_map<Language, Language> close_, settle_, without_separator_;
};

}  // namespace memfence
