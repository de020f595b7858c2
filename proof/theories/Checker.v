(** The checker of invariants, and why what it accepts is true: Theorem 1 of [docs/theory/certificates.md]. *)

From Coq Require Import ZArith List Bool.
From Memfence Require Import Program State Evaluation Models Steps Successors StateSet.
Import ListNotations.
Local Open Scope Z_scope.

(** ** What is asked of single states *)

(** What is said about final states: the condition has the [wanted] truth there, and the condition and what it observes
    have one of the listed values. *)
Record final_claim := FinalClaim {
  condition : expression;
  wanted : bool;
  observed : list expression;
  outcomes : list (list Z);
}.

(** [bad] is true nowhere. [no_deadlock]: nobody waits for ever before the end. A step that fails is always bad. *)
Record question := Question { bad : option expression; no_deadlock : bool; finals : list final_claim }.

Definition has_left (procs : list process) (s : state) (may_stay : process -> Z -> bool) : bool :=
  forallb (fun '(proc, location) => may_stay proc location) (combine procs (locations s)).

Definition has_halted (proc : process) (location : Z) : bool :=
  is_empty (leaving_from 0 location (transitions proc)).

(** Every process stands at a location without transitions, and every buffer is empty. *)
Definition is_final (prog : program) (s : state) : bool :=
  forallb (forallb is_empty) (buffers s) && has_left (processes prog) s has_halted.

Definition may_all_end (prog : program) (s : state) : bool :=
  has_left (processes prog) s (fun proc location => is_among location (may_end proc) || has_halted proc location).

(** What cannot be evaluated counts as 0. *)
Definition value_of (s : state) (e : expression) : Z :=
  match evaluate s 0 e with Some value => value | None => 0 end.

Definition outcome_of (s : state) (claim : final_claim) : list Z :=
  map (value_of s) (condition claim :: observed claim).

Definition is_bad (q : question) (s : state) : bool :=
  match bad q with Some e => is_true s e | None => false end.

(** A deadlock: no step is possible, and some process stands where it may not stay. *)
Definition is_deadlock (prog : program) (m : model) (s : state) : Prop :=
  (forall l, take prog m s l = Blocked) /\ may_all_end prog s = false.

(** What a claim promises of a state. *)
Record harmless (prog : program) (m : model) (q : question) (s : state) : Prop := Harmless {
  not_bad : is_bad q s = false;
  no_failure : forall l, take prog m s l <> Failed;
  not_stuck : no_deadlock q = true -> ~ is_deadlock prog m s;
  as_wanted : forall claim, In claim (finals q) -> is_final prog s = true ->
    is_true s (condition claim) = wanted claim /\ In (outcome_of s claim) (outcomes claim);
}.

(** ** The checker *)

(** The first condition that is violated. *)
Inductive complaint :=
  | InitialMissing (s : state)
  | Bad (s : state)
  | RefutesFinal (s : state)
  | Fails (s : state) (l : step)
  | LeadsOut (s : state) (l : step) (after : state)
  | Deadlock (s : state).

(** The first complaint about something in a list. *)
Fixpoint first_complaint {A C} (about : A -> option C) (list : list A) : option C :=
  match list with
  | [] => None
  | first :: rest => match about first with Some found => Some found | None => first_complaint about rest end
  end.

Definition agrees (s : state) (claim : final_claim) : bool :=
  Bool.eqb (is_true s (condition claim)) (wanted claim)
  && existsb (equal_lists Z.eqb (outcome_of s claim)) (outcomes claim).

Definition judge_step (s : state) (set : tree unit) (found : step * result state) : option complaint :=
  match found with
  | (l, Done after) => if is_member after set then None else Some (LeadsOut s l after)
  | (l, Failed) => Some (Fails s l)
  | (_, Blocked) => None
  end.

Definition judge_final (prog : program) (q : question) (s : state) : bool :=
  is_empty (finals q) || negb (is_final prog s) || forallb (agrees s) (finals q).

Definition judge_state (prog : program) (m : model) (q : question) (set : tree unit) (s : state) : option complaint :=
  if is_bad q s then Some (Bad s)
  else if negb (judge_final prog q s) then Some (RefutesFinal s)
  else
    let steps := successors prog m s in
    match first_complaint (judge_step s set) steps with
    | Some found => Some found
    | None => if no_deadlock q && is_empty steps && negb (may_all_end prog s) then Some (Deadlock s) else None
    end.

Definition judge_start (set : tree unit) (s : state) : option complaint :=
  if is_member s set then None else Some (InitialMissing s).

(** [None]: the states are an invariant that proves what is asked. *)
Definition judge (prog : program) (m : model) (q : question) (states : list state) : option complaint :=
  let set := state_set states in
  match first_complaint (judge_start set) (starts prog m) with
  | Some found => Some found
  | None => first_complaint (judge_state prog m q set) states
  end.

(** ** Why that is enough *)

Lemma no_complaint : forall A C (about : A -> option C) list,
  first_complaint about list = None -> forall x, In x list -> about x = None.
Proof.
  induction list as [|first rest IH]; intros H x Hx; [contradiction|]. simpl in H.
  destruct (about first) eqn:E; [discriminate|]. destruct Hx as [->|Hx]; auto.
Qed.

Section Accepted.
  Variables (prog : program) (m : model) (q : question) (states : list state).
  Hypothesis accepted : judge prog m q states = None.

  Lemma starts_are_inside : forall s, is_start prog m s -> In s states.
  Proof.
    intros s Hs. unfold judge in accepted.
    destruct (first_complaint (judge_start (state_set states)) (starts prog m)) eqn:E; [discriminate|].
    specialize (no_complaint _ _ _ _ E s (starts_complete _ _ _ Hs)). unfold judge_start.
    destruct (is_member s (state_set states)) eqn:Em; [|discriminate]. intros _. apply member_was_listed, Em.
  Qed.

  Lemma states_are_accepted : forall s, In s states -> judge_state prog m q (state_set states) s = None.
  Proof.
    intros s Hs. unfold judge in accepted. destruct (first_complaint (judge_start _) _); [discriminate|].
    exact (no_complaint _ _ _ _ accepted s Hs).
  Qed.

  Lemma steps_are_accepted : forall s l r, In s states -> take prog m s l = r -> r <> Blocked ->
    judge_step s (state_set states) (l, r) = None.
  Proof.
    intros s l r Hs Ht Hr. specialize (states_are_accepted s Hs). unfold judge_state.
    destruct (is_bad q s); [discriminate|]. destruct (negb (judge_final prog q s)); [discriminate|].
    destruct (first_complaint _ (successors prog m s)) eqn:E; [discriminate|]. intros _.
    apply (no_complaint _ _ _ _ E). apply successors_exact. auto.
  Qed.

  (** Every reachable state is in the set, by induction on the run. *)
  Theorem reachable_states_are_listed : forall s, reachable prog m s -> In s states.
  Proof.
    intros s H. induction H as [s Hs | s l after _ IH Ht]; [apply starts_are_inside, Hs|].
    assert (Hj := steps_are_accepted s l _ IH Ht ltac:(discriminate)). simpl in Hj.
    destruct (is_member after (state_set states)) eqn:E; [apply member_was_listed, E | discriminate].
  Qed.

  Lemma listed_states_are_harmless : forall s, In s states -> harmless prog m q s.
  Proof.
    intros s Hs. assert (Hj := states_are_accepted s Hs). unfold judge_state in Hj.
    destruct (is_bad q s) eqn:Eb; [discriminate|].
    destruct (judge_final prog q s) eqn:Ef; [simpl in Hj | discriminate].
    destruct (first_complaint _ (successors prog m s)) eqn:E; [discriminate|].
    split.
    - exact Eb.
    - intros l Hl. assert (H := steps_are_accepted s l _ Hs Hl ltac:(discriminate)). discriminate.
    - intros Hd [Hnone Hend]. rewrite Hd, Hend in Hj. destruct (successors prog m s) as [|[l r] rest] eqn:Es.
      + discriminate.
      + assert (Hin : In (l, r) (successors prog m s)) by (rewrite Es; left; reflexivity).
        apply successors_exact in Hin as [Ht Hr]. rewrite Hnone in Ht. congruence.
    - intros claim Hc Hfinal. unfold judge_final in Ef. rewrite Hfinal in Ef. simpl in Ef.
      apply orb_true_iff in Ef as [Ef|Ef].
      + apply orb_true_iff in Ef as [Ef|Ef]; [|discriminate]. destruct (finals q); [contradiction | discriminate].
      + rewrite forallb_forall in Ef. specialize (Ef claim Hc). unfold agrees in Ef.
        apply andb_true_iff in Ef as [Hw Ho]. apply eqb_prop in Hw. split; [exact Hw|].
        apply existsb_exists in Ho as [values [Hv He]]. apply equal_numbers_sound in He. congruence.
  Qed.
End Accepted.

(** Theorem 1: an accepted set of states excludes every bad state of every reachable configuration. *)
Theorem accepted_invariant_excludes_bad_states : forall prog m q states,
  judge prog m q states = None -> forall s, reachable prog m s -> harmless prog m q s.
Proof.
  intros prog m q states H s Hs. apply (listed_states_are_harmless prog m q states H).
  apply (reachable_states_are_listed prog m q states H). exact Hs.
Qed.

(** Nothing is left to say about bounds: if the set was accepted for unbounded buffers, it has all their states. *)
Corollary accepted_without_bound : forall prog buffers q states,
  judge prog (Model buffers Unbounded) q states = None ->
  forall s, reachable prog (Model buffers Unbounded) s -> In s states.
Proof. intros prog buffers q states. apply reachable_states_are_listed. Qed.
