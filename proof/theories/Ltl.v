(** Temporal formulas on infinite runs, and what each asks of now and of the next moment.

    An item is a formula, and whether it is to be refuted. Both are said positively, so nothing here needs the law of
    the excluded middle: [sat v f false i] says that [f] is true from moment [i] on, [sat v f true i] that it
    is false. *)

From Coq Require Import List Bool Arith Lia.
Import ListNotations.

Inductive formula :=
  | Truth (value : bool)
  | Atom (number : nat)
  | Negation (operand : formula)
  | Both (first second : formula)
  | Either (first second : formula)
  | Next (operand : formula)
  | Until (first second : formula)
  | Unless (first second : formula).

Definition item := (formula * bool)%type.

(** [P] until [Q], and its dual: [Q] as long as [P] has not been. *)
Definition until (P Q : nat -> Prop) (i : nat) : Prop := exists j, i <= j /\ Q j /\ forall k, i <= k < j -> P k.
Definition released (P Q : nat -> Prop) (i : nat) : Prop := forall j, i <= j -> Q j \/ exists k, i <= k < j /\ P k.

(** [v i n]: atom [n] is true at moment [i]. [Unless a b] is LTL's [a R b]. *)
Fixpoint sat (v : nat -> nat -> bool) (f : formula) (refuted : bool) : nat -> Prop :=
  match f with
  | Truth value => fun _ => value <> refuted
  | Atom number => fun i => v i number <> refuted
  | Negation operand => sat v operand (negb refuted)
  | Both first second =>
      if refuted then fun i => sat v first true i \/ sat v second true i
      else fun i => sat v first false i /\ sat v second false i
  | Either first second =>
      if refuted then fun i => sat v first true i /\ sat v second true i
      else fun i => sat v first false i \/ sat v second false i
  | Next operand => fun i => sat v operand refuted (S i)
  | Until first second =>
      if refuted then released (sat v first true) (sat v second true)
      else until (sat v first false) (sat v second false)
  | Unless first second =>
      if refuted then until (sat v first true) (sat v second true)
      else released (sat v first false) (sat v second false)
  end.

Definition item_holds v (x : item) (i : nat) : Prop := sat v (fst x) (snd x) i.

(** ** Ways to make items true *)

(** Atoms that are true and false now, items that are true next, and those that are put off by that. *)
Record way := Way { yes : list nat; no : list nat; later : list item; put_off : list item }.

Definition nothing := Way [] [] [] [].

Definition together (a b : way) : way :=
  Way (yes a ++ yes b) (no a ++ no b) (later a ++ later b) (put_off a ++ put_off b).

Definition all_together (xs ys : list way) : list way := flat_map (fun x => map (together x) ys) xs.

Definition again (x : item) : list way := [Way [] [] [x] []].
Definition postpone (x : item) : list way := [Way [] [] [x] [x]].

Fixpoint ways (f : formula) (refuted : bool) : list way :=
  let until x first second := second ++ all_together first (postpone x) in
  let released x first second := all_together second (first ++ again x) in
  match f with
  | Truth value => if Bool.eqb value refuted then [] else [nothing]
  | Atom number => [if refuted then Way [] [number] [] [] else Way [number] [] [] []]
  | Negation operand => ways operand (negb refuted)
  | Both first second =>
      (if refuted then @app way else all_together) (ways first refuted) (ways second refuted)
  | Either first second =>
      (if refuted then all_together else @app way) (ways first refuted) (ways second refuted)
  | Next operand => again (operand, refuted)
  | Until first second => (if refuted then released else until) (f, refuted) (ways first refuted) (ways second refuted)
  | Unless first second => (if refuted then until else released) (f, refuted) (ways first refuted) (ways second refuted)
  end.

Definition ways_of_all (items : list item) : list way :=
  fold_right (fun x rest => all_together (ways (fst x) (snd x)) rest) [nothing] items.

(** ** Whatever is true is true in one of these ways *)

(** The item is put off: what it waits for comes some time, but not now. *)
Definition postponed v (x : item) (i : nat) : Prop :=
  match x with
  | (Until _ goal, false) => (exists j, i <= j /\ sat v goal false j) /\ ~ sat v goal false i
  | (Unless _ goal, true) => (exists j, i <= j /\ sat v goal true j) /\ ~ sat v goal true i
  | _ => False
  end.

Record goes v (w : way) (i : nat) : Prop := Goes {
  goes_yes : forall n, In n (yes w) -> v i n = true;
  goes_no : forall n, In n (no w) -> v i n = false;
  goes_later : forall x, In x (later w) -> item_holds v x (S i);
  goes_put_off : forall x, In x (put_off w) -> postponed v x i;
}.

(** Not impossible. *)
Definition some_way v (ws : list way) (i : nat) : Prop := ~ ~ exists w, In w ws /\ goes v w i.

Lemma goes_nothing : forall v i, goes v nothing i.
Proof. intros v i. split; intros x []. Qed.

Lemma goes_together : forall v a b i, goes v a i -> goes v b i -> goes v (together a b) i.
Proof.
  intros v a b i [Ay An Al Ap] [By Bn Bl Bp].
  split; simpl; intros x H; apply in_app_or in H as [H|H]; auto.
Qed.

Lemma some_together : forall v xs ys i, some_way v xs i -> some_way v ys i -> some_way v (all_together xs ys) i.
Proof.
  intros v xs ys i Hx Hy H. apply Hx. intros [x [Hx' Gx]]. apply Hy. intros [y [Hy' Gy]]. apply H.
  exists (together x y). split; [|apply goes_together; assumption].
  apply in_flat_map. exists x. split; [assumption | apply in_map; assumption].
Qed.

Lemma some_left : forall v xs ys i, some_way v xs i -> some_way v (xs ++ ys) i.
Proof. intros v xs ys i Hx H. apply Hx. intros [x [Hi G]]. apply H. exists x. split; [apply in_or_app|]; auto. Qed.

Lemma some_right : forall v xs ys i, some_way v ys i -> some_way v (xs ++ ys) i.
Proof. intros v xs ys i Hx H. apply Hx. intros [x [Hi G]]. apply H. exists x. split; [apply in_or_app|]; auto. Qed.

Lemma some_one : forall v w i, goes v w i -> some_way v [w] i.
Proof. intros v w i G H. apply H. exists w. split; [left; reflexivity | exact G]. Qed.

Lemma some_again : forall v x i, item_holds v x (S i) -> some_way v (again x) i.
Proof.
  intros v x i H. apply some_one. split; simpl; intros y Hy; try contradiction. destruct Hy as [<-|[]]. exact H.
Qed.

Lemma some_until : forall v x P Q first second i,
  until P Q i -> (until P Q (S i) -> item_holds v x (S i)) -> (~ Q i -> postponed v x i) ->
  (P i -> some_way v first i) -> (Q i -> some_way v second i) ->
  some_way v (second ++ all_together first (postpone x)) i.
Proof.
  intros v x P Q first second i [j [Hij [HQ HP]]] Hlater Hput Hfirst Hsecond H.
  assert (Hdec : ~ ~ (Q i \/ ~ Q i)) by tauto. apply Hdec. intros [Hq|Hq]; [exact (some_left _ _ _ _ (Hsecond Hq) H)|].
  assert (i <> j) by (intros ->; contradiction).
  refine (some_right _ _ _ _ (some_together _ _ _ _ (Hfirst (HP i ltac:(lia))) _) H).
  apply some_one. split; simpl; intros y Hy; try contradiction; destruct Hy as [<-|[]].
  - apply Hlater. exists j. split; [lia|]. split; [exact HQ|]. intros k Hk. apply HP. lia.
  - apply Hput, Hq.
Qed.

Lemma some_released : forall v x P Q first second i,
  released P Q i -> (released P Q (S i) -> item_holds v x (S i)) ->
  (P i -> some_way v first i) -> (Q i -> some_way v second i) ->
  some_way v (all_together second (first ++ again x)) i.
Proof.
  intros v x P Q first second i H Hlater Hfirst Hsecond.
  assert (Hq : Q i) by (destruct (H i (le_n i)) as [Hq|[k [Hk _]]]; [exact Hq | lia]).
  apply some_together; [exact (Hsecond Hq)|]. intros Hno.
  assert (Hdec : ~ ~ (P i \/ ~ P i)) by tauto. apply Hdec. intros [Hp|Hp].
  - exact (some_left _ _ _ _ (Hfirst Hp) Hno).
  - refine (some_right _ _ _ _ (some_again _ _ _ (Hlater _)) Hno). intros j Hj.
    destruct (H j ltac:(lia)) as [Hqj|[k [Hk Hpk]]]; [left; exact Hqj|]. right. exists k. split; [|exact Hpk].
    assert (k <> i) by (intros ->; contradiction). lia.
Qed.

Theorem ways_complete : forall v f refuted i, sat v f refuted i -> some_way v (ways f refuted) i.
Proof.
  intros v. induction f as [value | n | f IH | f IHf g IHg | f IHf g IHg | f IH | f IHf g IHg | f IHf g IHg];
    intros refuted i H; simpl in H |- *.
  - destruct (Bool.eqb_spec value refuted); [contradiction | apply some_one, goes_nothing].
  - apply some_one. destruct refuted, (v i n) eqn:E; try congruence; split; simpl; intros y Hy; try contradiction;
      destruct Hy as [<-|[]]; exact E.
  - apply IH, H.
  - destruct refuted.
    + destruct H as [H|H]; [apply some_left | apply some_right]; auto.
    + destruct H as [H G]. apply some_together; auto.
  - destruct refuted.
    + destruct H as [H G]. apply some_together; auto.
    + destruct H as [H|H]; [apply some_left | apply some_right]; auto.
  - apply some_again. exact H.
  - destruct refuted.
    + eapply some_released; [exact H | intros Hl; exact Hl | apply IHf | apply IHg].
    + eapply some_until; [exact H | intros Hl; exact Hl | | apply IHf | apply IHg].
      intros Hq. destruct H as [j [Hj [Hg _]]]. split; [exists j; auto | exact Hq].
  - destruct refuted.
    + eapply some_until; [exact H | intros Hl; exact Hl | | apply IHf | apply IHg].
      intros Hq. destruct H as [j [Hj [Hg _]]]. split; [exists j; auto | exact Hq].
    + eapply some_released; [exact H | intros Hl; exact Hl | apply IHf | apply IHg].
Qed.

Theorem ways_of_all_complete : forall v items i,
  (forall x, In x items -> item_holds v x i) -> some_way v (ways_of_all items) i.
Proof.
  intros v items i. induction items as [|x rest IH]; intros H; simpl.
  - apply some_one, goes_nothing.
  - apply some_together; [apply ways_complete, H; left; reflexivity | apply IH; intros y Hy; apply H; right; exact Hy].
Qed.
