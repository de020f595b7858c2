(** All steps and all initial states, as lists: what a checker goes through. Nothing is missing or invented. *)

From Coq Require Import ZArith List Bool Lia.
From Memfence Require Import Program State Evaluation Models Steps.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Definitions *)

(** The numbers of the transitions that leave [location], counted from [number] on. *)
Fixpoint leaving_from (number : nat) (location : Z) (ts : list transition) : list nat :=
  match ts with
  | [] => []
  | t :: rest =>
      if source t =? location then number :: leaving_from (S number) location rest
      else leaving_from (S number) location rest
  end.

(** Process and number of every transition that leaves where its process stands. *)
Fixpoint enabled_from (p : nat) (s : state) (procs : list process) : list (nat * nat) :=
  match procs with
  | [] => []
  | proc :: rest =>
      map (pair p) (leaving_from 0 (location_of s p) (transitions proc)) ++ enabled_from (S p) s rest
  end.

Definition side (prog : program) (sending : bool) (at_ : nat * nat) : bool :=
  match transition_of prog (fst at_) (snd at_) with
  | Some t => match meeting t with Some a => Bool.eqb (sends a) sending | None => false end
  | None => false
  end.

Definition meetings (prog : program) (enabled : list (nat * nat)) : list step :=
  match filter (side prog true) enabled with
  | [] => []
  | senders =>
      let receivers := filter (side prog false) enabled in
      flat_map (fun '(p, n) => map (fun '(q, k) => Meet p n q k) receivers) senders
  end.

Definition background_of (p : nat) (own : list buffer) : list step :=
  match own with [] => [] | _ => DropSeparator p :: map (Commit p) (seq 0 (length own)) end.

Fixpoint background_from (p : nat) (all : list (list buffer)) : list step :=
  match all with [] => [] | own :: rest => background_of p own ++ background_from (S p) rest end.

(** Every step that may be possible. *)
Definition candidates (prog : program) (s : state) : list step :=
  let enabled := enabled_from 0 s (processes prog) in
  background_from 0 (buffers s) ++ map (fun '(p, n) => Run p n) enabled ++ meetings prog enabled.

Definition is_possible (found : step * result state) : bool :=
  match snd found with Blocked => false | _ => true end.

(** Every step that is possible, with what it leads to. *)
Definition successors (prog : program) (m : model) (s : state) : list (step * result state) :=
  filter is_possible (map (fun l => (l, take prog m s l)) (candidates prog s)).

(** Every way to choose one value from each list. *)
Fixpoint choices {A} (options : list (list A)) : list (list A) :=
  match options with
  | [] => [[]]
  | first :: rest => let others := choices rest in flat_map (fun value => map (cons value) others) first
  end.

Definition starts (prog : program) (m : model) : list state :=
  let registers_of_one proc := choices (map first_values (register_variables proc)) in
  let all_registers := choices (map registers_of_one (processes prog)) in
  let locations := map initial (processes prog) in
  flat_map
    (fun memory => map (fun own => State locations own memory (empty_buffers prog m) None) all_registers)
    (choices (map variable_init (variables prog))).

(** ** Proofs *)

Lemma possible_only_if_possible : forall A (c : bool) (r : result A), possible_only_if c r <> Blocked -> c = true.
Proof. intros A [|] r H; [reflexivity | elim H; reflexivity]. Qed.

Lemma leaving_complete : forall ts location start number t,
  nth_error ts number = Some t -> source t = location -> In (start + number)%nat (leaving_from start location ts).
Proof.
  induction ts as [|u rest IH]; intros location start number t Hn Hs.
  - destruct number; discriminate.
  - destruct number as [|number]; simpl in *.
    + injection Hn as ->. rewrite Hs, Z.eqb_refl, Nat.add_0_r. left. reflexivity.
    + replace (start + S number)%nat with (S start + number)%nat by lia.
      destruct (source u =? location); [right|]; eapply IH; eauto.
Qed.

Lemma enabled_complete : forall procs s start p number proc t,
  nth_error procs p = Some proc -> nth_error (transitions proc) number = Some t ->
  source t = location_of s (start + p) -> In ((start + p)%nat, number) (enabled_from start s procs).
Proof.
  induction procs as [|first rest IH]; intros s start p number proc t Hp Hn Hs.
  - destruct p; discriminate.
  - simpl. apply in_or_app. destruct p as [|p]; simpl in Hp.
    + injection Hp as ->. left. rewrite Nat.add_0_r in *. apply in_map.
      exact (leaving_complete _ _ 0%nat _ _ Hn Hs).
    + right. replace (start + S p)%nat with (S start + p)%nat in * by lia. eapply IH; eauto.
Qed.

Lemma enabled_by_transition : forall prog s p number t,
  transition_of prog p number = Some t -> source t = location_of s p ->
  In (p, number) (enabled_from 0 s (processes prog)).
Proof.
  unfold transition_of. intros prog s p number t Ht Hs.
  destruct (nth_error (processes prog) p) as [proc|] eqn:Hp; [|discriminate].
  exact (enabled_complete _ s 0%nat p number proc t Hp Ht Hs).
Qed.

Lemma background_complete : forall all start p own,
  nth_error all p = Some own -> own <> [] ->
  In (DropSeparator (start + p)) (background_from start all)
  /\ forall queue, (queue < length own)%nat -> In (Commit (start + p) queue) (background_from start all).
Proof.
  induction all as [|first rest IH]; intros start p own Hp Hne.
  - destruct p; discriminate.
  - destruct p as [|p]; simpl in Hp.
    + injection Hp as ->. rewrite Nat.add_0_r. simpl background_from.
      split; [|intros queue Hl]; apply in_or_app; left; unfold background_of; destruct own; try congruence.
      * left. reflexivity.
      * right. apply in_map, in_seq. lia.
    + replace (start + S p)%nat with (S start + p)%nat by lia.
      destruct (IH (S start) p own Hp Hne) as [Hd Hc].
      split; [|intros queue Hl]; apply in_or_app; right; auto.
Qed.

Lemma buffers_of_nonempty : forall s p, buffers_of s p <> [] -> nth_error (buffers s) p = Some (buffers_of s p).
Proof.
  unfold buffers_of. intros s p H. destruct (nth_error (buffers s) p) as [own|] eqn:E.
  - rewrite (nth_error_nth _ _ _ E). reflexivity.
  - apply nth_error_None in E. rewrite nth_overflow in H by exact E. congruence.
Qed.

Lemma meetings_complete : forall prog enabled p n q k,
  In (p, n) enabled -> side prog true (p, n) = true -> In (q, k) enabled -> side prog false (q, k) = true ->
  In (Meet p n q k) (meetings prog enabled).
Proof.
  unfold meetings. intros prog enabled p n q k Hp Hs Hq Hr.
  assert (Hsender : In (p, n) (filter (side prog true) enabled)) by (apply filter_In; auto).
  destruct (filter (side prog true) enabled) as [|first rest]; [contradiction|].
  apply in_flat_map. exists (p, n). split; [exact Hsender|].
  apply (in_map (fun '(q, k) => Meet p n q k) _ (q, k)). apply filter_In. auto.
Qed.

Theorem candidates_complete : forall prog m s l, take prog m s l <> Blocked -> In l (candidates prog s).
Proof.
  intros prog m s l H. unfold candidates. apply in_or_app. destruct l as [p n | p n q k | p queue | p]; simpl in H.
  - right. apply in_or_app. left. destruct (transition_of prog p n) as [t|] eqn:Ht; [|congruence].
    destruct (meeting t); [congruence|]. apply possible_only_if_possible, Z.eqb_eq in H.
    apply (in_map (fun '(p, n) => Run p n) _ (p, n)). eapply enabled_by_transition; eauto.
  - right. apply in_or_app. right.
    destruct (transition_of prog p n) as [t|] eqn:Ht; [|congruence].
    destruct (transition_of prog q k) as [u|] eqn:Hu; [|congruence].
    destruct (meeting t) as [a|] eqn:Ha; [|congruence]. destruct (meeting u) as [b|] eqn:Hb; [|congruence].
    apply possible_only_if_possible in H. unfold match_up in H. repeat rewrite andb_true_iff in H.
    destruct H as [[[[[_ Hsend] Hrec] _] Hp] Hq]. apply Z.eqb_eq in Hp, Hq. apply negb_true_iff in Hrec.
    apply meetings_complete; try (eapply enabled_by_transition; eassumption); unfold side; simpl.
    + rewrite Ht, Ha, Hsend. reflexivity.
    + rewrite Hu, Hb, Hrec. reflexivity.
  - left. destruct (bus_is_free_for s p); simpl in H; [|congruence]. unfold commit in H.
    destruct (nth queue (buffers_of s p) []) as [|e rest] eqn:E; [congruence|].
    assert (Hl : (queue < length (buffers_of s p))%nat).
    { destruct (Nat.lt_ge_cases queue (length (buffers_of s p))) as [Hl|Hl]; [exact Hl|].
      rewrite nth_overflow in E by exact Hl. discriminate. }
    assert (Hne : buffers_of s p <> []) by (intros Hn; rewrite Hn in Hl; simpl in Hl; lia).
    exact (proj2 (background_complete _ 0%nat p _ (buffers_of_nonempty _ _ Hne) Hne) queue Hl).
  - left. destruct (bus_is_free_for s p); simpl in H; [|congruence]. unfold drop_separator in H.
    destruct (kind m); try congruence. apply possible_only_if_possible, andb_true_iff in H.
    assert (Hne : buffers_of s p <> []) by (intros Hn; rewrite Hn in H; destruct H; discriminate).
    exact (proj1 (background_complete _ 0%nat p _ (buffers_of_nonempty _ _ Hne) Hne)).
Qed.

(** The list is the step relation: no more, no less. *)
Theorem successors_exact : forall prog m s l r,
  In (l, r) (successors prog m s) <-> take prog m s l = r /\ r <> Blocked.
Proof.
  intros prog m s l r. unfold successors. rewrite filter_In, in_map_iff. split.
  - intros [[l' [Heq _]] Hp]. injection Heq as -> <-. split; [reflexivity|].
    intros Hb. unfold is_possible in Hp. simpl in Hp. rewrite Hb in Hp. discriminate.
  - intros [Ht Hb]. split.
    + exists l. rewrite Ht. split; [reflexivity|]. apply (candidates_complete prog m). congruence.
    + unfold is_possible. simpl. destruct r; congruence.
Qed.

Lemma choices_exact : forall A (options : list (list A)) chosen,
  In chosen (choices options) <-> Forall2 (fun value list => In value list) chosen options.
Proof.
  induction options as [|first rest IH]; intros chosen; simpl.
  - split; [intros [<-|[]]; constructor | intros H; inversion H; auto].
  - rewrite in_flat_map. split.
    + intros [value [Hv Hin]]. apply in_map_iff in Hin as [others [<- Ho]]. constructor; [exact Hv | apply IH, Ho].
    + intros H. inversion H; subst. eexists. split; [eassumption|]. apply in_map, IH. assumption.
Qed.

Lemma Forall2_map_right : forall A B C (R : A -> C -> Prop) (f : B -> C) xs ys,
  Forall2 R xs (map f ys) <-> Forall2 (fun x y => R x (f y)) xs ys.
Proof.
  intros A B C R f xs ys. revert xs. induction ys as [|y ys IH]; intros xs; split; intros H; inversion H; subst;
    constructor; auto; apply IH; assumption.
Qed.

Lemma Forall2_same : forall A B (R S : A -> B -> Prop) xs ys,
  (forall x y, R x y <-> S x y) -> Forall2 R xs ys -> Forall2 S xs ys.
Proof. intros A B R S xs ys H F. induction F; constructor; auto. apply H. assumption. Qed.

(** The list of initial states is complete. *)
Theorem starts_complete : forall prog m s, is_start prog m s -> In s (starts prog m).
Proof.
  intros prog m [locs regs mem bufs owner] [Hl [Hr [Hm [Hb Ho]]]]. simpl in *. subst. unfold starts.
  apply in_flat_map. exists mem. split.
  - apply choices_exact, Forall2_map_right. exact Hm.
  - apply in_map_iff. exists regs. split; [reflexivity|]. apply choices_exact, Forall2_map_right.
    eapply Forall2_same; [|exact Hr]. intros own proc. simpl. rewrite choices_exact, Forall2_map_right. reflexivity.
Qed.
