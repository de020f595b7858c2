#include "symbolic/automaton.hpp"

#include "test.hpp"

using namespace memfence;

TEST(useless_and_equal_states_disappear) {
  Nfa nfa;
  for (int i = 0; i < 5; ++i) nfa.add_state(i == 2 || i == 3);
  nfa.add_initial(0);
  nfa.add_move(0, 1, 2);
  nfa.add_move(0, 2, 3);
  nfa.add_move(0, 3, 4);  // leads nowhere
  const Dfa dfa = nfa.minimal_dfa();
  CHECK(dfa.states() == 2);
  CHECK(dfa.next(0, 1) == 1 && dfa.next(0, 2) == 1 && dfa.next(0, 3) == -1);
}

TEST(the_numbering_depends_on_the_language_alone) {
  const auto build = [](bool reversed) {
    Nfa nfa;
    for (int i = 0; i < 3; ++i) nfa.add_state(i != 0);
    nfa.add_initial(0);
    nfa.add_move(0, 1, reversed ? 2 : 1);
    nfa.add_move(0, 2, reversed ? 1 : 2);
    nfa.add_move(reversed ? 2 : 1, 5, reversed ? 2 : 1);
    return nfa.minimal_dfa();
  };
  CHECK(build(false) == build(true));
}

TEST(silent_moves_are_followed_as_far_as_they_lead) {
  Nfa nfa;
  for (int i = 0; i < 4; ++i) nfa.add_state(i == 3);
  nfa.add_initial(0);
  nfa.add_silent(0, 1);
  nfa.add_silent(1, 2);
  nfa.add_silent(2, 0);
  nfa.add_move(2, 7, 3);
  CHECK(nfa.minimal_dfa().states() == 2);
}

TEST(an_automaton_without_initial_or_accepting_state_is_the_empty_language) {
  Nfa nothing;
  CHECK(nothing.minimal_dfa().states() == 0);
  Nfa rejecting;
  rejecting.add_initial(rejecting.add_state(false));
  CHECK(rejecting.minimal_dfa().states() == 0);
}
