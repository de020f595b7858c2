(** A table of states in which one can look something up quickly, with something known about each; and a set of states.

    A tree that branches on the numbers of a state one after the other, and ends as soon as one state is left. What it
    says to be inside is compared as a whole, so the proof need not know how the numbers are chosen. *)

From Coq Require Import ZArith List Bool FMapPositive.
From Memfence Require Import Program State.
Import ListNotations.

(** ** Equality of states, by computation *)

Fixpoint equal_lists {A} (equal : A -> A -> bool) (xs ys : list A) : bool :=
  match xs, ys with
  | [], [] => true
  | x :: xs', y :: ys' => if equal x y then equal_lists equal xs' ys' else false
  | _, _ => false
  end.

Definition equal_entries (a b : entry) : bool :=
  match a, b with
  | Pending v x, Pending w y => Nat.eqb v w && Z.eqb x y
  | Separator, Separator => true
  | _, _ => false
  end.

Definition equal_owners (a b : option nat) : bool :=
  match a, b with Some p, Some q => Nat.eqb p q | None, None => true | _, _ => false end.

Definition equal_states (s t : state) : bool :=
  equal_lists Z.eqb (locations s) (locations t)
  && equal_lists Z.eqb (memory s) (memory t)
  && equal_lists (equal_lists Z.eqb) (registers s) (registers t)
  && equal_lists (equal_lists (equal_lists equal_entries)) (buffers s) (buffers t)
  && equal_owners (lock_owner s) (lock_owner t).

(** ** The numbers of a state *)

Definition key_of_number (value : Z) : positive :=
  match value with Z0 => xH | Zpos p => xO p | Zneg p => xI p end.

Definition key_of_entry (e : entry) (rest : list positive) : list positive :=
  match e with Pending v value => Pos.of_succ_nat v :: key_of_number value :: rest | Separator => xH :: rest end.

Definition key_of_numbers (numbers : list Z) (rest : list positive) : list positive :=
  fold_right (fun value keys => key_of_number value :: keys) rest numbers.

Definition key_of_buffer (queue : buffer) (rest : list positive) : list positive :=
  Pos.of_succ_nat (length queue) :: fold_right key_of_entry rest queue.

Definition key (s : state) : list positive :=
  key_of_numbers (locations s) (key_of_numbers (memory s) (fold_right key_of_numbers
    (fold_right (fun own rest => fold_right key_of_buffer rest own) [] (buffers s)) (registers s))).

(** ** The table *)

Section Table.
  Context {A : Type}.

  Inductive tree :=
    | Nothing
    | One (rest : list positive) (found : state * A)
    | Branch (ended : list (state * A)) (children : PositiveMap.t tree).

  Definition child (k : positive) (children : PositiveMap.t tree) : tree :=
    match PositiveMap.find k children with Some t => t | None => Nothing end.

  (** The same table, as a branch. *)
  Definition branch_of (t : tree) : list (state * A) * PositiveMap.t tree :=
    match t with
    | Nothing => ([], PositiveMap.empty tree)
    | One [] found => ([found], PositiveMap.empty tree)
    | One (k :: rest) found => ([], PositiveMap.add k (One rest found) (PositiveMap.empty tree))
    | Branch ended children => (ended, children)
    end.

  Fixpoint insert (keys : list positive) (x : state * A) (t : tree) : tree :=
    match t with
    | Nothing => One keys x
    | _ =>
        let (ended, children) := branch_of t in
        match keys with
        | [] => Branch (x :: ended) children
        | k :: rest => Branch ended (PositiveMap.add k (insert rest x (child k children)) children)
        end
    end.

  Fixpoint first_of (s : state) (listed : list (state * A)) : option A :=
    match listed with
    | [] => None
    | (found, value) :: rest => if equal_states s found then Some value else first_of s rest
    end.

  Fixpoint find (keys : list positive) (s : state) (t : tree) : option A :=
    match t with
    | Nothing => None
    | One _ found => first_of s [found]
    | Branch ended children =>
        match keys with
        | [] => first_of s ended
        | k :: rest => find rest s (child k children)
        end
    end.

  Definition table (listed : list (state * A)) : tree := fold_left (fun t x => insert (key (fst x)) x t) listed Nothing.

  Definition look_up (s : state) (t : tree) : option A := find (key s) s t.
End Table.
Arguments tree : clear implicits.

Definition state_set (states : list state) : tree unit := table (map (fun s => (s, tt)) states).

Definition is_member (s : state) (set : tree unit) : bool :=
  match look_up s set with Some _ => true | None => false end.

(** ** Whatever is found was put there *)

Lemma equal_lists_sound : forall A (equal : A -> A -> bool),
  (forall x y, equal x y = true -> x = y) -> forall xs ys, equal_lists equal xs ys = true -> xs = ys.
Proof.
  intros A equal Hs. induction xs as [|x xs IH]; intros [|y ys] H; simpl in H; try discriminate; [reflexivity|].
  destruct (equal x y) eqn:E; [|discriminate]. f_equal; auto.
Qed.

Lemma equal_entries_sound : forall a b, equal_entries a b = true -> a = b.
Proof.
  intros [v x|] [w y|] H; simpl in H; try discriminate; [|reflexivity].
  apply andb_true_iff in H as [Hv Hx]. apply Nat.eqb_eq in Hv. apply Z.eqb_eq in Hx. congruence.
Qed.

Lemma equal_owners_sound : forall a b, equal_owners a b = true -> a = b.
Proof. intros [p|] [q|] H; simpl in H; try discriminate; [apply Nat.eqb_eq in H; congruence | reflexivity]. Qed.

Lemma equal_numbers_sound : forall xs ys, equal_lists Z.eqb xs ys = true -> xs = ys.
Proof. apply equal_lists_sound. intros x y. apply Z.eqb_eq. Qed.

Lemma equal_states_sound : forall s t, equal_states s t = true -> s = t.
Proof.
  intros [l r m b o] [l' r' m' b' o'] H. unfold equal_states in H. simpl in H. repeat rewrite andb_true_iff in H.
  destruct H as [[[[Hl Hm] Hr] Hb] Ho]. apply equal_numbers_sound in Hl, Hm. apply equal_owners_sound in Ho.
  apply (equal_lists_sound _ _ equal_numbers_sound) in Hr.
  apply (equal_lists_sound _ _ (equal_lists_sound _ _ (equal_lists_sound _ _ equal_entries_sound))) in Hb.
  congruence.
Qed.

Section Found.
  Context {A : Type}.
  Implicit Types (t : tree A) (x : state * A) (value : A).

  Lemma first_of_sound : forall s (listed : list (state * A)) value,
    first_of s listed = Some value -> In (s, value) listed.
  Proof.
    induction listed as [|[found v] rest IH]; intros value H; simpl in H; [discriminate|].
    destruct (equal_states s found) eqn:E; [|right; auto]. apply equal_states_sound in E. left. congruence.
  Qed.

  Lemma child_empty : forall k, child k (PositiveMap.empty (tree A)) = Nothing.
  Proof. intros k. unfold child. rewrite PositiveMap.gempty. reflexivity. Qed.

  Lemma child_add : forall k k' t children,
    child k (PositiveMap.add k' t children) = t /\ k = k' \/ child k (PositiveMap.add k' t children) = child k children.
  Proof.
    intros k k' t children. unfold child. destruct (PositiveMap.E.eq_dec k k') as [->|Hne].
    - left. rewrite PositiveMap.gss. split; reflexivity.
    - right. rewrite PositiveMap.gso by exact Hne. reflexivity.
  Qed.

  Lemma find_nothing : forall keys s, find keys s (@Nothing A) = None.
  Proof. intros [|k keys] s; reflexivity. Qed.

  Lemma find_one : forall keys s rest x, find keys s (One rest x) = first_of s [x].
  Proof. intros [|k keys] s rest x; reflexivity. Qed.

  Lemma find_branch_of : forall keys s t value,
    find keys s (Branch (fst (branch_of t)) (snd (branch_of t))) = Some value -> find keys s t = Some value.
  Proof.
    intros [|k keys] s [|[|k' rest] found|ended children] value; cbn [branch_of fst snd find]; intros H;
      rewrite ?child_empty, ?find_nothing in H; try discriminate; try exact H.
    destruct (child_add k k' (One rest found) (PositiveMap.empty (tree A))) as [[E _]|E]; rewrite E in H.
    - rewrite find_one in H. exact H.
    - rewrite child_empty, find_nothing in H. discriminate.
  Qed.

  Lemma find_insert : forall keys' keys s x t value,
    find keys s (insert keys' x t) = Some value -> (s, value) = x \/ find keys s t = Some value.
  Proof.
    assert (Hone : forall keys s rest x value, find keys s (One rest x) = Some value -> (s, value) = x).
    { intros keys s rest x value H. rewrite find_one in H. apply first_of_sound in H as [H|[]]. auto. }
    induction keys' as [|k' rest' IH]; intros keys s x t value H.
    - assert (Hcase : t = Nothing \/ insert [] x t = Branch (x :: fst (branch_of t)) (snd (branch_of t)))
        by (destruct t as [|[|k rest] found|]; auto).
      destruct Hcase as [->|Hb]; [left; eapply Hone; exact H|].
      rewrite Hb in H. destruct keys as [|k keys]; [|right; apply find_branch_of; exact H].
      destruct x as [found v]. cbn [find first_of] in H. destruct (equal_states s found) eqn:E.
      + apply equal_states_sound in E. left. congruence.
      + right. apply find_branch_of. exact H.
    - set (inner := insert rest' x (child k' (snd (branch_of t)))) in *.
      assert (Hcase : t = Nothing
          \/ insert (k' :: rest') x t = Branch (fst (branch_of t)) (PositiveMap.add k' inner (snd (branch_of t))))
        by (destruct t as [|[|k rest] found|]; auto).
      destruct Hcase as [->|Hb]; [left; eapply Hone; exact H|].
      rewrite Hb in H. destruct keys as [|k keys]; [right; apply find_branch_of; exact H|].
      cbn [find] in H. destruct (child_add k k' inner (snd (branch_of t))) as [[E ->]|E]; rewrite E in H.
      + destruct (IH _ _ _ _ _ H) as [Hx|H']; [left; exact Hx|]. right. apply find_branch_of. exact H'.
      + right. apply find_branch_of. exact H.
  Qed.

  Theorem found_was_listed : forall (listed : list (state * A)) s value,
    look_up s (table listed) = Some value -> In (s, value) listed.
  Proof.
    assert (H : forall listed t s value,
        look_up s (fold_left (fun t x => insert (key (fst x)) x t) listed t) = Some value ->
        In (s, value) listed \/ look_up s t = Some value).
    { induction listed as [|first rest IH]; intros t s value H; [right; exact H|]. simpl in H.
      destruct (IH _ _ _ H) as [Hin|Hm]; [left; right; exact Hin|].
      destruct (find_insert _ _ _ _ _ _ Hm) as [Hx|Hm']; [left; left; auto | right; exact Hm']. }
    intros listed s value Hm. destruct (H _ _ _ _ Hm) as [Hin|Hnot]; [exact Hin|].
    unfold look_up in Hnot. rewrite find_nothing in Hnot. discriminate.
  Qed.
End Found.

Theorem member_was_listed : forall states s, is_member s (state_set states) = true -> In s states.
Proof.
  intros states s H. unfold is_member, state_set in H. destruct (look_up s _) as [[]|] eqn:E; [|discriminate].
  apply found_was_listed, in_map_iff in E as [found [Heq Hin]]. congruence.
Qed.
