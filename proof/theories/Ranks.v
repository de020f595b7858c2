(** The checker of ranks, and why what it accepts is true: Theorem 8 of [docs/theory/certificates.md].

    A property is given by an automaton of the runs that refute it; it goes beside the program. *)

From Coq Require Import ZArith List Bool Lia.
From Memfence Require Import Program State Evaluation Models Steps Successors StateSet Checker Fairness.
Import ListNotations.

(** ** Runs that refute *)

(** Possible where all atoms in [all_of] and none in [none_of] are true; [visited] are the marks that it visits. *)
Record move := Move { next_node : nat; all_of : list nat; none_of : list nat; visited : list nat }.

(** [moves_of]: the moves out of each node. A run is accepted if it visits every mark below [marks] again and again. *)
Record automaton := Automaton { moves_of : list (list move); first_node : nat; marks : nat; atoms : list expression }.

Definition holds (a : automaton) (s : state) (number : nat) : bool := is_true s (nth number (atoms a) (Const 0)).

Definition is_enabled (a : automaton) (s : state) (v : move) : bool :=
  forallb (holds a s) (all_of v) && forallb (fun number => negb (holds a s number)) (none_of v).

(** The automaton accepts the run: it starts at its first node, takes an enabled move at each moment, and recurs. *)
Record accepts (a : automaton) (states : nat -> state) (nodes : nat -> nat) (taken : nat -> move) : Prop := {
  starts_first : nodes 0 = first_node a;
  takes_moves : forall i, In (taken i) (nth (nodes i) (moves_of a) []);
  are_enabled : forall i, is_enabled a (states i) (taken i) = true;
  lead_on : forall i, nodes (S i) = next_node (taken i);
  recurs : forall k, k < marks a -> again_and_again (fun i => In k (visited (taken i)));
}.

(** Some fair run refutes the property. *)
Definition is_refuted (prog : program) (m : model) (fair : bool) (a : automaton) : Prop :=
  exists states steps nodes taken,
    infinite_run prog m states steps /\ is_fair prog m fair states steps /\ accepts a states nodes taken.

(** ** The checker *)

(** The rank of a pair of a state and a node, and the mark that steps within this rank do not visit. *)
Record grade := Grade { rank : N; mark : nat }.

Record ranked := Ranked { pair_state : state; pair_node : nat; pair_grade : grade }.

Inductive rank_complaint :=
  | StartUnranked (s : state)
  | Unranked (s : state) (l : option step) (after : state)
  | Grows (s : state) (l : option step) (after : state)
  | Stays (s : state) (l : option step) (after : state).

(** A state and a node, as one state that the table can hold. *)
Definition beside (node : nat) (s : state) : state :=
  State (Z.of_nat node :: locations s) (registers s) (memory s) (buffers s) (lock_owner s).

Definition rank_table (pairs : list ranked) : tree grade :=
  table (map (fun x => (beside (pair_node x) (pair_state x), pair_grade x)) pairs).

(** Marks of the automaton come first, then one for each condition; any further one counts as visited by all steps. *)
Definition visits (a : automaton) (cs : list fairness) s done (l : option step) (v : move) (k : nat) : bool :=
  if Nat.ltb k (marks a) then existsb (Nat.eqb k) (visited v)
  else match nth_error cs (k - marks a) with Some condition => is_met s done l condition | None => true end.

Definition judge_joint_step a cs (t : tree grade) (x : ranked) done (l : option step) (after : state) (v : move)
  : option rank_complaint :=
  let s := pair_state x in
  let here := pair_grade x in
  match look_up (beside (next_node v) after) t with
  | None => Some (Unranked s l after)
  | Some there =>
      match N.compare (rank there) (rank here) with
      | Lt => None
      | Gt => Some (Grows s l after)
      | Eq => if visits a cs s done l v (mark here) || negb (Nat.eqb (mark there) (mark here))
              then Some (Stays s l after) else None
      end
  end.

Definition judge_pair prog m a cs (t : tree grade) (x : ranked) : option rank_complaint :=
  let s := pair_state x in
  match filter (is_enabled a s) (nth (pair_node x) (moves_of a) []) with
  | [] => None
  | enabled =>
      let done := done_steps (successors prog m s) in
      first_complaint
        (fun '(l, after) => first_complaint (judge_joint_step a cs t x done l after) enabled)
        (continuations s done)
  end.

Definition judge_first_pair a (t : tree grade) (s : state) : option rank_complaint :=
  match look_up (beside (first_node a) s) t with Some _ => None | None => Some (StartUnranked s) end.

(** [None]: the ranks show that no fair run refutes the property. *)
Definition judge_ranks prog m (fair : bool) (a : automaton) (pairs : list ranked) : option rank_complaint :=
  let t := rank_table pairs in
  match first_complaint (judge_first_pair a t) (starts prog m) with
  | Some found => Some found
  | None => first_complaint (judge_pair prog m a (conditions prog m fair) t) pairs
  end.

(** ** Why that is enough *)

Lemma beside_injective : forall n n' s s', beside n s = beside n' s' -> n = n' /\ s = s'.
Proof.
  intros n n' [l r w b o] [l' r' w' b' o'] H. unfold beside in H. simpl in H. injection H as Hn -> -> -> -> ->.
  apply Nat2Z.inj in Hn. auto.
Qed.

Lemma looked_up_was_ranked : forall pairs n s g,
  look_up (beside n s) (rank_table pairs) = Some g -> In (Ranked s n g) pairs.
Proof.
  intros pairs n s g H. apply found_was_listed, in_map_iff in H as [[s' n' g'] [Heq Hin]]. simpl in Heq.
  assert (Hb := f_equal fst Heq). assert (Hg := f_equal snd Heq). simpl in Hb, Hg.
  apply beside_injective in Hb as [-> ->]. subst. exact Hin.
Qed.

Section Accepted.
  Variables (prog : program) (m : model) (fair : bool) (a : automaton) (pairs : list ranked).
  Hypothesis accepted : judge_ranks prog m fair a pairs = None.

  Let cs := conditions prog m fair.

  Lemma first_pair_is_ranked : forall s, is_start prog m s -> exists g, In (Ranked s (first_node a) g) pairs.
  Proof.
    intros s Hs. unfold judge_ranks in accepted.
    destruct (first_complaint (judge_first_pair a _) _) eqn:E; [discriminate|].
    assert (H := no_complaint _ _ _ _ E _ (starts_complete _ _ _ Hs)).
    unfold judge_first_pair in H. destruct (look_up _ _) as [g|] eqn:El; [|discriminate].
    exists g. apply looked_up_was_ranked, El.
  Qed.

  (** From a ranked pair, each joint step leads to a ranked pair: lower, or as high without a visit to the mark. *)
  Lemma next_pair_is_ranked : forall s node g l after v, In (Ranked s node g) pairs ->
    goes_on prog m s l after -> In v (nth node (moves_of a) []) -> is_enabled a s v = true ->
    exists g', In (Ranked after (next_node v) g') pairs
    /\ ((rank g' < rank g)%N
        \/ rank g' = rank g /\ mark g' = mark g
           /\ visits a cs s (done_steps (successors prog m s)) l v (mark g) = false).
  Proof.
    intros s node g l after v Hg Hgo Hv He. unfold judge_ranks in accepted.
    destruct (first_complaint (judge_first_pair a _) _); [discriminate|].
    assert (H := no_complaint _ _ _ _ accepted _ Hg). unfold judge_pair in H. cbn [pair_state pair_node] in H.
    assert (Hm : In v (filter (is_enabled a s) (nth node (moves_of a) []))) by (apply filter_In; auto).
    destruct (filter (is_enabled a s) _) as [|first rest]; [contradiction|].
    assert (Hone := no_complaint _ _ _ _ H _ (continuations_complete _ _ _ _ _ Hgo)). cbn beta iota in Hone.
    assert (Hj := no_complaint _ _ _ _ Hone _ Hm). unfold judge_joint_step in Hj. cbn [pair_state pair_grade] in Hj.
    destruct (look_up _ _) as [g'|] eqn:El; [|discriminate]. exists g'. split; [apply looked_up_was_ranked, El|].
    destruct (N.compare_spec (rank g') (rank g)) as [Hr|Hl|Hl]; [|left; exact Hl | discriminate].
    right. split; [exact Hr|]. destruct (visits _ _ _ _ _ _ _) eqn:Ev; [discriminate|]. simpl in Hj.
    destruct (Nat.eqb_spec (mark g') (mark g)); [auto | discriminate].
  Qed.

  Variables (states : nat -> state) (steps : nat -> option step) (nodes : nat -> nat) (taken : nat -> move).
  Hypothesis Hrun : infinite_run prog m states steps.
  Hypothesis Hfair : is_fair prog m fair states steps.

  Let done i := done_steps (successors prog m (states i)).

  (** Marks beyond those of the automaton are visited again and again by whatever moves. *)
  Lemma other_marks_recur : forall k, marks a <= k -> again_and_again (fun i =>
    forall v, visits a cs (states i) (done i) (steps i) v k = true).
  Proof.
    intros k Hk. unfold visits. destruct (Nat.ltb_spec k (marks a)) as [Hl|_]; [lia|].
    destruct (nth_error cs (k - marks a)) as [condition|] eqn:E; [|intros i; exists i; auto].
    apply nth_error_In in E. intros i. destruct (Hfair condition E i) as [j [Hij Hj]]. exists j. auto.
  Qed.

  Hypothesis Haccepts : accepts a states nodes taken.

  Definition has_grade (i : nat) (g : grade) : Prop := In (Ranked (states i) (nodes i) g) pairs.

  Lemma first_has_grade : exists g, has_grade 0 g.
  Proof.
    unfold has_grade. rewrite (starts_first _ _ _ _ Haccepts). apply first_pair_is_ranked, (begins _ _ _ _ Hrun).
  Qed.

  Lemma next_has_grade : forall i g, has_grade i g -> exists g', has_grade (S i) g'
    /\ ((rank g' < rank g)%N
        \/ rank g' = rank g /\ mark g' = mark g
           /\ visits a cs (states i) (done i) (steps i) (taken i) (mark g) = false).
  Proof.
    intros i g Hg. unfold has_grade. rewrite (lead_on _ _ _ _ Haccepts).
    exact (next_pair_is_ranked _ _ _ _ _ _ Hg (continues _ _ _ _ Hrun i) (takes_moves _ _ _ _ Haccepts i)
      (are_enabled _ _ _ _ Haccepts i)).
  Qed.

  Lemma every_mark_recurs : forall k,
    again_and_again (fun i => visits a cs (states i) (done i) (steps i) (taken i) k = true).
  Proof.
    intros k i. destruct (Nat.ltb_spec k (marks a)) as [Hk|Hk].
    - destruct (recurs _ _ _ _ Haccepts k Hk i) as [j [Hij Hj]]. exists j. split; [exact Hij|].
      unfold visits. destruct (Nat.ltb_spec k (marks a)); [|lia].
      apply existsb_exists. exists k. split; [exact Hj | apply Nat.eqb_refl].
    - destruct (other_marks_recur k Hk i) as [j [Hij Hj]]. exists j. auto.
  Qed.

  (** As long as no lower rank comes, rank and mark stay as they are. *)
  Lemma grade_stays : forall i g d, has_grade i g -> (forall j g', has_grade j g' -> ~ (rank g' < rank g)%N) ->
    exists g', has_grade (d + i) g' /\ rank g' = rank g /\ mark g' = mark g.
  Proof.
    intros i g d Hg Hleast. induction d as [|d [g' [Hd [Hr Hm]]]]; [exists g; auto|].
    destruct (next_has_grade _ _ Hd) as [g'' [Hn [Hl|[He [Hk _]]]]].
    - exfalso. rewrite Hr in Hl. exact (Hleast _ _ Hn Hl).
    - exists g''. repeat split; [exact Hn | congruence | congruence].
  Qed.

  Lemma no_moment_has_grade : forall r i g, rank g = r -> ~ has_grade i g.
  Proof.
    intros r. induction r as [r IH] using (well_founded_induction N.lt_wf_0). intros i g Hr Hg.
    assert (Hleast : forall j g', has_grade j g' -> ~ (rank g' < rank g)%N).
    { intros j g' Hg' Hl. rewrite Hr in Hl. exact (IH _ Hl j g' eq_refl Hg'). }
    destruct (every_mark_recurs (mark g) i) as [j [Hij Hv]].
    destruct (grade_stays i g (j - i) Hg Hleast) as [g' [Hg' [Hr' Hm']]].
    replace (j - i + i) with j in Hg' by lia.
    destruct (next_has_grade _ _ Hg') as [g'' [Hn [Hl|[_ [_ Hnot]]]]].
    - rewrite Hr' in Hl. exact (Hleast _ _ Hn Hl).
    - rewrite Hm' in Hnot. congruence.
  Qed.

  Lemma there_is_no_such_run : False.
  Proof. destruct first_has_grade as [g Hg]. exact (no_moment_has_grade _ _ _ eq_refl Hg). Qed.
End Accepted.

(** Theorem 8: where the ranks are accepted, no fair run refutes the property. *)
Theorem accepted_ranks_exclude_refuting_runs : forall prog m fair a pairs,
  judge_ranks prog m fair a pairs = None -> ~ is_refuted prog m fair a.
Proof.
  intros prog m fair a pairs H [states [steps [nodes [taken [Hrun [Hfair Ha]]]]]].
  exact (there_is_no_such_run prog m fair a pairs H states steps nodes taken Hrun Hfair Ha).
Qed.
