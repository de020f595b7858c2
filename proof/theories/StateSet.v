(** A set of states in which one can look something up quickly.

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

(** ** The set *)

Inductive tree :=
  | Nothing
  | One (rest : list positive) (found : state)
  | Branch (ended : list state) (children : PositiveMap.t tree).

Definition child (k : positive) (children : PositiveMap.t tree) : tree :=
  match PositiveMap.find k children with Some t => t | None => Nothing end.

(** The same set, as a branch. *)
Definition branch_of (t : tree) : list state * PositiveMap.t tree :=
  match t with
  | Nothing => ([], PositiveMap.empty tree)
  | One [] found => ([found], PositiveMap.empty tree)
  | One (k :: rest) found => ([], PositiveMap.add k (One rest found) (PositiveMap.empty tree))
  | Branch ended children => (ended, children)
  end.

Fixpoint insert (keys : list positive) (s : state) (t : tree) : tree :=
  match t with
  | Nothing => One keys s
  | _ =>
      let (ended, children) := branch_of t in
      match keys with
      | [] => Branch (s :: ended) children
      | k :: rest => Branch ended (PositiveMap.add k (insert rest s (child k children)) children)
      end
  end.

Fixpoint contains (keys : list positive) (s : state) (t : tree) : bool :=
  match t with
  | Nothing => false
  | One _ found => equal_states s found
  | Branch ended children =>
      match keys with
      | [] => existsb (equal_states s) ended
      | k :: rest => contains rest s (child k children)
      end
  end.

Definition state_set (states : list state) : tree := fold_left (fun t s => insert (key s) s t) states Nothing.

Definition is_member (s : state) (t : tree) : bool := contains (key s) s t.

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

Lemma child_empty : forall k, child k (PositiveMap.empty tree) = Nothing.
Proof. intros k. unfold child. rewrite PositiveMap.gempty. reflexivity. Qed.

Lemma child_add : forall k k' t children,
  child k (PositiveMap.add k' t children) = t /\ k = k' \/ child k (PositiveMap.add k' t children) = child k children.
Proof.
  intros k k' t children. unfold child. destruct (PositiveMap.E.eq_dec k k') as [->|Hne].
  - left. rewrite PositiveMap.gss. split; reflexivity.
  - right. rewrite PositiveMap.gso by exact Hne. reflexivity.
Qed.

Lemma contains_nothing : forall keys s, contains keys s Nothing = false.
Proof. intros [|k keys] s; reflexivity. Qed.

Lemma contains_one : forall keys s rest found, contains keys s (One rest found) = equal_states s found.
Proof. intros [|k keys] s rest found; reflexivity. Qed.

Lemma contains_branch_of : forall keys s t,
  contains keys s (Branch (fst (branch_of t)) (snd (branch_of t))) = true -> contains keys s t = true.
Proof.
  intros [|k keys] s [|[|k' rest] found|ended children]; cbn [branch_of fst snd contains]; intros H;
    rewrite ?child_empty, ?contains_nothing in H; try discriminate; try exact H.
  - cbn [existsb] in H. rewrite orb_false_r in H. exact H.
  - destruct (child_add k k' (One rest found) (PositiveMap.empty tree)) as [[E _]|E]; rewrite E in H.
    + rewrite contains_one in H. exact H.
    + rewrite child_empty, contains_nothing in H. discriminate.
Qed.

Lemma contains_insert : forall keys' keys s s' t,
  contains keys s (insert keys' s' t) = true -> s = s' \/ contains keys s t = true.
Proof.
  induction keys' as [|k' rest' IH]; intros keys s s' t H.
  - assert (Hcase : t = Nothing \/ insert [] s' t = Branch (s' :: fst (branch_of t)) (snd (branch_of t)))
      by (destruct t as [|[|k rest] found|]; auto).
    destruct Hcase as [->|Hb]; [left; apply equal_states_sound; destruct keys; exact H|].
    rewrite Hb in H. destruct keys as [|k keys]; [|right; apply contains_branch_of; exact H].
    cbn [contains existsb] in H. apply orb_true_iff in H as [H|H]; [left; apply equal_states_sound, H|].
    right. apply contains_branch_of. exact H.
  - set (inner := insert rest' s' (child k' (snd (branch_of t)))) in *.
    assert (Hcase : t = Nothing
        \/ insert (k' :: rest') s' t = Branch (fst (branch_of t)) (PositiveMap.add k' inner (snd (branch_of t))))
      by (destruct t as [|[|k rest] found|]; auto).
    destruct Hcase as [->|Hb]; [left; apply equal_states_sound; destruct keys; exact H|].
    rewrite Hb in H. destruct keys as [|k keys]; [right; apply contains_branch_of; exact H|].
    cbn [contains] in H. destruct (child_add k k' inner (snd (branch_of t))) as [[E ->]|E]; rewrite E in H.
    + destruct (IH _ _ _ _ H) as [->|H']; [left; reflexivity|]. right. apply contains_branch_of. exact H'.
    + right. apply contains_branch_of. exact H.
Qed.

Theorem member_was_listed : forall states s, is_member s (state_set states) = true -> In s states.
Proof.
  assert (H : forall states t s, is_member s (fold_left (fun t s => insert (key s) s t) states t) = true ->
      In s states \/ is_member s t = true).
  { induction states as [|first rest IH]; intros t s H; [right; exact H|]. simpl in H.
    destruct (IH _ _ H) as [Hin|Hm]; [left; right; exact Hin|].
    destruct (contains_insert _ _ _ _ _ Hm) as [->|Hm']; [left; left; reflexivity | right; exact Hm']. }
  intros states s Hm. destruct (H _ _ _ Hm) as [Hin|Hnot]; [exact Hin|].
  unfold is_member in Hnot. simpl in Hnot. destruct (key s); discriminate.
Qed.
