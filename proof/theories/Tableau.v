(** Why ranks prove a formula: the automaton is a tableau of the runs that refute it.

    Whoever made the automaton says for each node which items are true there, and for each mark which item it is about.
    That is checked node by node; how the automaton was made need not be believed. *)

From Coq Require Import ZArith List Bool Arith Lia.
From Memfence Require Import Program State Models Steps Successors StateSet Checker Fairness Ranks Ltl.
Import ListNotations.

(** ** The checker *)

Fixpoint equal_formulas (f g : formula) : bool :=
  match f, g with
  | Truth x, Truth y => Bool.eqb x y
  | Atom x, Atom y => Nat.eqb x y
  | Negation f, Negation g | Next f, Next g => equal_formulas f g
  | Both a b, Both c d | Either a b, Either c d | Until a b, Until c d | Unless a b, Unless c d =>
      equal_formulas a c && equal_formulas b d
  | _, _ => false
  end.

Definition equal_items (x y : item) : bool := equal_formulas (fst x) (fst y) && Bool.eqb (snd x) (snd y).
Definition is_item (items : list item) (x : item) : bool := existsb (equal_items x) items.
Definition is_number (numbers : list nat) (n : nat) : bool := existsb (Nat.eqb n) numbers.

Record labelling := Labelling { items_of : list (list item); mark_items : list item }.

Definition is_contradictory (w : way) : bool := existsb (is_number (no w)) (yes w).

(** A mark that the move does not visit is about an item that the way puts off. *)
Definition mark_is_right (t : labelling) (w : way) (v : move) (k : nat) : bool :=
  is_number (visited v) k || match nth_error (mark_items t) k with Some x => is_item (put_off w) x | None => false end.

(** The move asks no more than the way gives. *)
Definition is_covered_by (a : automaton) (t : labelling) (w : way) (v : move) : bool :=
  forallb (is_number (yes w)) (all_of v)
  && forallb (is_number (no w)) (none_of v)
  && match nth_error (items_of t) (next_node v) with Some items => forallb (is_item (later w)) items | None => false end
  && forallb (mark_is_right t w v) (seq 0 (marks a)).

Definition node_is_right (a : automaton) (t : labelling) (items : list item) (moves : list move) : bool :=
  forallb (fun w => is_contradictory w || existsb (is_covered_by a t w) moves) (ways_of_all items).

Definition is_tableau (a : automaton) (t : labelling) (f : formula) : bool :=
  match nth_error (items_of t) (first_node a) with
  | Some items => forallb (is_item [(f, true)]) items
  | None => false
  end
  && forallb (fun n => node_is_right a t (nth n (items_of t) []) (nth n (moves_of a) [])) (seq 0 (length (items_of t))).

(** [None]: the ranks show that no fair run refutes the formula. [Some None]: the automaton is no tableau of it. *)
Definition judge_formula prog m fair a t f (pairs : list ranked) : option (option rank_complaint) :=
  if is_tableau a t f then option_map Some (judge_ranks prog m fair a pairs) else Some None.

(** ** Why that is enough *)

Lemma equal_formulas_sound : forall f g, equal_formulas f g = true -> f = g.
Proof.
  induction f; intros [] H; simpl in H; try discriminate; try (apply andb_true_iff in H as [H1 H2]; f_equal; auto);
    try (f_equal; auto).
  - apply eqb_prop, H.
  - apply Nat.eqb_eq, H.
Qed.

Lemma is_item_sound : forall items x, is_item items x = true -> In x items.
Proof.
  intros items [f b] H. apply existsb_exists in H as [[g c] [Hin He]]. apply andb_true_iff in He as [Hf Hb].
  apply equal_formulas_sound in Hf. apply eqb_prop in Hb. simpl in *. congruence.
Qed.

Lemma is_number_sound : forall numbers n, is_number numbers n = true -> In n numbers.
Proof. intros numbers n H. apply existsb_exists in H as [k [Hin He]]. apply Nat.eqb_eq in He. congruence. Qed.

Section Proved.
  Variables (prog : program) (m : model) (fair : bool) (a : automaton) (pairs : list ranked) (t : labelling).
  Variable (f : formula).
  Hypothesis Hranks : judge_ranks prog m fair a pairs = None.
  Hypothesis Htableau : is_tableau a t f = true.
  Variables (states : nat -> state) (steps : nat -> option step).
  Hypothesis Hrun : infinite_run prog m states steps.
  Hypothesis Hfair : is_fair prog m fair states steps.

  Let v i n := holds a (states i) n.
  Let visits_at i w k := visits a (conditions prog m fair) (states i)
    (done_steps (successors prog m (states i))) (steps i) w k.

  (** At moment [i] the node is ranked so, and all of its items are true. *)
  Definition stands (i node : nat) (g : grade) : Prop :=
    In (Ranked (states i) node g) pairs
    /\ exists items, nth_error (items_of t) node = Some items /\ forall x, In x items -> item_holds v x i.

  Lemma first_stands : sat v f true 0 -> exists g, stands 0 (first_node a) g.
  Proof.
    intros Hf. destruct (first_pair_is_ranked _ _ _ _ _ Hranks _ (begins _ _ _ _ Hrun)) as [g Hg].
    exists g. split; [exact Hg|]. unfold is_tableau in Htableau. apply andb_true_iff in Htableau as [H _].
    destruct (nth_error (items_of t) (first_node a)) as [items|]; [|discriminate]. exists items. split; [reflexivity|].
    intros x Hx. rewrite forallb_forall in H. apply H, is_item_sound in Hx as [<-|[]]. exact Hf.
  Qed.

  (** From where one stands, some move leads to where one stands again; a mark that it does not visit is put off. *)
  Lemma next_stands : forall i node g, stands i node g -> ~ ~ exists w node' g', stands (S i) node' g'
    /\ ((rank g' < rank g)%N \/ rank g' = rank g /\ mark g' = mark g /\ visits_at i w (mark g) = false)
    /\ forall k, k < marks a -> visits_at i w k = false ->
       exists x, nth_error (mark_items t) k = Some x /\ postponed v x i.
  Proof.
    intros i node g [Hg [items [Hitems Hall]]] Hno. apply (ways_of_all_complete v items i Hall). intros [w [Hw Hgoes]].
    assert (Hright := Htableau). unfold is_tableau in Hright. apply andb_true_iff in Hright as [_ Hright].
    rewrite forallb_forall in Hright.
    assert (Hnode : In node (seq 0 (length (items_of t)))).
    { apply in_seq. split; [lia|]. apply nth_error_Some. rewrite Hitems. discriminate. }
    specialize (Hright node Hnode). rewrite (nth_error_nth _ _ _ Hitems) in Hright. unfold node_is_right in Hright.
    rewrite forallb_forall in Hright. specialize (Hright w Hw). apply orb_true_iff in Hright as [Hc|Hc].
    { apply existsb_exists in Hc as [n [Hy Hn]]. apply is_number_sound in Hn.
      assert (Et := goes_yes _ _ _ Hgoes _ Hy). assert (Ef := goes_no _ _ _ Hgoes _ Hn). congruence. }
    apply existsb_exists in Hc as [u [Hu Hcover]]. unfold is_covered_by in Hcover.
    repeat rewrite andb_true_iff in Hcover. destruct Hcover as [[[Hyes Hneg] Hlater] Hmarks].
    rewrite forallb_forall in Hyes, Hneg, Hmarks.
    assert (He : is_enabled a (states i) u = true).
    { apply andb_true_iff. split; apply forallb_forall; intros n Hn.
      - exact (goes_yes _ _ _ Hgoes _ (is_number_sound _ _ (Hyes n Hn))).
      - apply negb_true_iff. exact (goes_no _ _ _ Hgoes _ (is_number_sound _ _ (Hneg n Hn))). }
    destruct (next_pair_is_ranked _ _ _ _ _ Hranks _ _ _ _ _ _ Hg (continues _ _ _ _ Hrun i) Hu He) as [g' [Hg' Hdown]].
    apply Hno. exists u, (next_node u), g'. split; [|split; [exact Hdown|]].
    - split; [exact Hg'|]. destruct (nth_error (items_of t) (next_node u)) as [items'|]; [|discriminate].
      exists items'. split; [reflexivity|]. intros x Hx. rewrite forallb_forall in Hlater.
      apply (goes_later _ _ _ Hgoes), is_item_sound, Hlater, Hx.
    - intros k Hk Hv. specialize (Hmarks k ltac:(apply in_seq; lia)). unfold mark_is_right in Hmarks.
      unfold visits_at, visits in Hv. destruct (Nat.ltb_spec k (marks a)); [|lia].
      unfold is_number in Hmarks at 1. rewrite Hv in Hmarks. simpl in Hmarks.
      destruct (nth_error (mark_items t) k) as [x|]; [|discriminate]. exists x. split; [reflexivity|].
      apply (goes_put_off _ _ _ Hgoes), is_item_sound, Hmarks.
  Qed.

  Lemma rank_stays : forall i node g d, stands i node g ->
    (forall j node' g', stands j node' g' -> ~ (rank g' < rank g)%N) ->
    ~ ~ exists node' g', stands (d + i) node' g' /\ rank g' = rank g /\ mark g' = mark g.
  Proof.
    intros i node g d Hg Hleast. induction d as [|d IH]; intros Hno; [apply Hno; exists node, g; auto|].
    apply IH. intros [node' [g' [Hd [Hr Hm]]]]. apply (next_stands _ _ _ Hd).
    intros [w [node'' [g'' [Hn [[Hl|[He [Hk _]]] _]]]]].
    - rewrite Hr in Hl. exact (Hleast _ _ _ Hn Hl).
    - apply Hno. exists node'', g''. split; [exact Hn | split; congruence].
  Qed.

  (** At no later moment [j] does a move visit the mark, or what the mark waits for come. *)
  Lemma mark_is_never_visited : forall i node g, stands i node g ->
    (forall j node' g', stands j node' g' -> ~ (rank g' < rank g)%N) ->
    forall j, i <= j -> ~ ~ exists w, visits_at j w (mark g) = false
      /\ (mark g < marks a -> exists x, nth_error (mark_items t) (mark g) = Some x /\ postponed v x j).
  Proof.
    intros i node g Hg Hleast j Hij Hno. apply (rank_stays i node g (j - i) Hg Hleast).
    replace (j - i + i) with j by lia. intros [node' [g' [Hs [Hr Hm]]]].
    apply (next_stands _ _ _ Hs). intros [w [node'' [g'' [Hn [[Hl|[_ [_ Hv]]] Hk]]]]].
    - rewrite Hr in Hl. exact (Hleast _ _ _ Hn Hl).
    - rewrite Hm in Hv. apply Hno. exists w. split; [exact Hv|]. intros Hlt. exact (Hk _ Hlt Hv).
  Qed.

  Lemma no_moment_stands : forall r i node g, rank g = r -> ~ stands i node g.
  Proof.
    intros r. induction r as [r IH] using (well_founded_induction N.lt_wf_0). intros i node g Hr Hg.
    assert (Hleast : forall j node' g', stands j node' g' -> ~ (rank g' < rank g)%N).
    { intros j node' g' Hg' Hl. rewrite Hr in Hl. exact (IH _ Hl j node' g' eq_refl Hg'). }
    assert (Hnever := mark_is_never_visited i node g Hg Hleast).
    destruct (Nat.lt_ge_cases (mark g) (marks a)) as [Hk|Hk].
    - apply (Hnever i (le_n i)). intros [w [_ Hput]]. destruct (Hput Hk) as [[x b] [Hx Hp]].
      assert (Hgoal : exists j, i <= j /\ ~ postponed v (x, b) j).
      { destruct x, b; simpl in Hp |- *; try contradiction; destruct Hp as [[j [Hj Hq]] _]; exists j; split;
          try exact Hj; intros [_ Hn]; exact (Hn Hq). }
      destruct Hgoal as [j [Hj Hnot]]. apply (Hnever j Hj). intros [w' [_ Hput']]. destruct (Hput' Hk) as [y [Hy Hp']].
      congruence.
    - destruct (other_marks_recur _ _ fair a _ _ Hfair (mark g) Hk i) as [j [Hj Hv]].
      apply (Hnever j Hj). intros [w [Hnot _]]. unfold visits_at in Hnot. rewrite Hv in Hnot. discriminate.
  Qed.

  Lemma it_is_not_refuted : ~ sat v f true 0.
  Proof. intros Hf. destruct (first_stands Hf) as [g Hg]. exact (no_moment_stands _ _ _ _ eq_refl Hg). Qed.
End Proved.

(** Where the ranks are accepted and the automaton is a tableau, no fair run of the program refutes the formula. *)
Theorem accepted_ranks_prove_the_formula : forall prog m fair a t f pairs,
  judge_formula prog m fair a t f pairs = None ->
  forall states steps, infinite_run prog m states steps -> is_fair prog m fair states steps ->
  ~ sat (fun i n => holds a (states i) n) f true 0.
Proof.
  intros prog m fair a t f pairs H. unfold judge_formula in H. destruct (is_tableau a t f) eqn:Et; [|discriminate].
  destruct (judge_ranks prog m fair a pairs) eqn:Er; [discriminate|].
  intros. eapply it_is_not_refuted; eassumption.
Qed.
