(** Where a bound on the buffers refuses no step, a larger bound changes nothing, nor does having none. *)

From Coq Require Import ZArith List Bool Lia.
From Memfence Require Import Program State Evaluation Models Steps.
Import ListNotations.

(** [m'] is the same memory with at least as much room. *)
Definition looser (m m' : model) : Prop :=
  kind m = kind m' /\ forall own, fits m own = true -> fits m' own = true.

(** A step is refused if it is possible with more room only. *)
Definition refuses (prog : program) (m m' : model) (s : state) : Prop :=
  exists l, take prog m s l = Blocked /\ take prog m' s l <> Blocked.

(** ** The usual bounds *)

Lemma unbounded_is_looser : forall buffers limit, looser (Model buffers limit) (Model buffers Unbounded).
Proof. split; reflexivity. Qed.

Lemma larger_is_looser : forall m (k k' : Z), (k <= k')%Z -> looser (bounded m k) (bounded m k').
Proof.
  intros m k k' Hk. split; [reflexivity|]. unfold fits, bounded. simpl. intros own H.
  rewrite forallb_forall in *. intros queue Hq. specialize (H queue Hq). unfold is_at_most in *.
  apply Z.leb_le in H. apply Z.leb_le. lia.
Qed.

(** ** What is possible with less room is possible with more *)

Definition at_least {A} (r r' : result A) : Prop := r = Blocked \/ r = r'.

Lemma at_least_refl : forall A (r : result A), at_least r r.
Proof. right. reflexivity. Qed.

Lemma at_least_bind : forall A B (r r' : result A) (f g : A -> result B),
  at_least r r' -> (forall a, at_least (f a) (g a)) -> at_least (bind r f) (bind r' g).
Proof. intros A B r r' f g [-> | ->] H; [left; reflexivity|]. destruct r'; simpl; auto using at_least_refl. Qed.

Lemma at_least_only_if : forall A (c : bool) (r r' : result A),
  at_least r r' -> at_least (possible_only_if c r) (possible_only_if c r').
Proof. intros A [|] r r' H; [exact H | left; reflexivity]. Qed.

Section Looser.
  Variables (prog : program) (m m' : model).
  Hypothesis Hloose : looser m m'.

  Lemma same_store_reading : forall order, reading_of_store m order = reading_of_store m' order.
  Proof. intros. unfold reading_of_store. rewrite (proj1 Hloose). reflexivity. Qed.

  Lemma same_fence_reading : forall order, reading_of_fence m order = reading_of_fence m' order.
  Proof. intros. unfold reading_of_fence. rewrite (proj1 Hloose). reflexivity. Qed.

  Lemma same_separated : forall order, is_separated m order = is_separated m' order.
  Proof. intros. unfold is_separated. rewrite same_store_reading. reflexivity. Qed.

  Lemma same_locked : forall t, is_locked m t = is_locked m' t.
  Proof.
    intros t. unfold is_locked. f_equal. induction (operations t) as [|op rest IH]; [reflexivity|].
    simpl. rewrite IH. f_equal. destruct op; try reflexivity. rewrite same_store_reading. reflexivity.
  Qed.

  Lemma same_start : forall s p t, may_start prog m s p t = may_start prog m' s p t.
  Proof. intros. unfold may_start. rewrite same_locked. reflexivity. Qed.

  Lemma fits_more : forall s p, at_least (if_it_fits m s p) (if_it_fits m' s p).
  Proof.
    intros s p. unfold if_it_fits. destruct (fits m (buffers_of s p)) eqn:E; [|left; reflexivity].
    rewrite (proj2 Hloose _ E). apply at_least_refl.
  Qed.

  Lemma store_more : forall s p variable value,
    at_least (store prog m s p variable value) (store prog m' s p variable value).
  Proof.
    intros. unfold store. rewrite (proj1 Hloose). destruct (kind m'); auto using fits_more, at_least_refl.
  Qed.

  Lemma separate_more : forall s p, at_least (separate m s p) (separate m' s p).
  Proof. intros. unfold separate. rewrite (proj1 Hloose). destruct (kind m'); apply fits_more. Qed.

  Lemma apply_store_more : forall s p place value direct is_locked,
    at_least (apply_store prog m s p place value direct is_locked)
      (apply_store prog m' s p place value direct is_locked).
  Proof.
    intros. unfold apply_store. repeat (apply at_least_bind; [apply at_least_refl | intros]).
    destruct (direct && _); [apply at_least_refl|]. destruct (_ || direct); [apply at_least_refl | apply store_more].
  Qed.

  Lemma apply_more : forall s p is_locked op,
    at_least (apply prog m s p is_locked op) (apply prog m' s p is_locked op).
  Proof.
    intros s p lk op. destruct op; simpl; try apply at_least_refl.
    - apply at_least_bind; [apply at_least_refl | intros [|]; [apply at_least_refl|]].
      rewrite same_separated. destruct (negb direct && negb lk && is_separated m' order); [|apply apply_store_more].
      apply at_least_bind; [apply separate_more | intros]. apply at_least_bind; [apply at_least_refl | intros [|]].
      + apply at_least_refl.
      + apply apply_store_more.
    - rewrite same_fence_reading. unfold fence.
      destruct (match kind with Some _ => _ | None => _ end) as [[|]|]; auto using at_least_refl, separate_more.
  Qed.

  Lemma apply_all_more : forall ops s p is_locked,
    at_least (apply_all prog m s p is_locked ops) (apply_all prog m' s p is_locked ops).
  Proof.
    induction ops as [|op rest IH]; intros; simpl; [apply at_least_refl|].
    apply at_least_bind; [apply apply_more | intros; apply IH].
  Qed.

  Lemma run_more : forall s p t, at_least (run prog m s p t) (run prog m' s p t).
  Proof.
    intros. unfold run. rewrite same_start, same_locked. apply at_least_only_if.
    apply at_least_bind; [apply apply_all_more | intros; apply at_least_refl].
  Qed.

  Lemma meet_more : forall s p t a q u b, at_least (meet prog m s p t a q u b) (meet prog m' s p t a q u b).
  Proof.
    intros. unfold meet. rewrite !same_start, !same_locked. apply at_least_only_if.
    repeat (apply at_least_bind; [first [apply apply_all_more | apply at_least_refl] | intros]). apply at_least_refl.
  Qed.

  Theorem take_more : forall s l, at_least (take prog m s l) (take prog m' s l).
  Proof.
    intros s [p n | p n q k | p queue | p]; simpl.
    - destruct (transition_of prog p n) as [t|]; [|apply at_least_refl].
      destruct (meeting t); [apply at_least_refl | apply at_least_only_if, run_more].
    - destruct (transition_of prog p n) as [t|]; [|apply at_least_refl].
      destruct (transition_of prog q k) as [u|]; [|apply at_least_refl].
      destruct (meeting t); [|apply at_least_refl]. destruct (meeting u); [|apply at_least_refl].
      apply at_least_only_if, meet_more.
    - apply at_least_refl.
    - unfold drop_separator. rewrite (proj1 Hloose). apply at_least_refl.
  Qed.

  Lemma same_starts : forall s, is_start prog m s <-> is_start prog m' s.
  Proof. intros. unfold is_start, empty_buffers. rewrite (proj1 Hloose). reflexivity. Qed.

  (** More room only adds runs. *)
  Theorem more_room_more_states : forall s, reachable prog m s -> reachable prog m' s.
  Proof.
    intros s H. induction H as [s Hs | s l after _ IH Ht].
    - apply at_start, same_starts, Hs.
    - apply (by_step _ _ s l); [exact IH|]. destruct (take_more s l) as [E|E]; congruence.
  Qed.

  Hypothesis Hnone : forall s, reachable prog m s -> ~ refuses prog m m' s.

  Lemma same_steps : forall s l, reachable prog m s -> take prog m s l = take prog m' s l.
  Proof.
    intros s l Hs. destruct (take_more s l) as [E|E]; [|exact E].
    destruct (take prog m' s l) eqn:E'; [| exact E |]; exfalso; apply (Hnone s Hs); exists l; split; congruence.
  Qed.

  Lemma no_state_is_new : forall s, reachable prog m' s -> reachable prog m s.
  Proof.
    intros s H. induction H as [s Hs | s l after _ IH Ht].
    - apply at_start, same_starts, Hs.
    - apply (by_step _ _ s l); [exact IH|]. rewrite same_steps by exact IH. exact Ht.
  Qed.
End Looser.

(** If no reachable state refuses a step, more room makes no other state reachable. *)
Theorem no_refusal_no_larger_buffer : forall prog m m',
  looser m m' -> (forall s, reachable prog m s -> ~ refuses prog m m' s) ->
  forall s, reachable prog m s <-> reachable prog m' s.
Proof. intros prog m m' Hl Hn s. split; [apply more_room_more_states | apply no_state_is_new]; assumption. Qed.

(** So a search with buffers of length [k] that refuses nothing has seen all that buffers of any length can do. *)
Corollary a_bound_that_refuses_nothing_is_none : forall prog buffers k,
  let limited := Model buffers (Entries k) in
  let unlimited := Model buffers Unbounded in
  (forall s, reachable prog limited s -> ~ refuses prog limited unlimited s) ->
  forall s, reachable prog limited s <-> reachable prog unlimited s.
Proof. intros. apply no_refusal_no_larger_buffer; [apply unbounded_is_looser | assumption]. Qed.
