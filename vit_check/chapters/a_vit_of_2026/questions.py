QUESTIONS = """
rope_score_before: the score of the query at place 3 and the key at place 1
  = 2 * 3 * math.cos(2 * math.pi / 6)
  rounding 1e-3
  6: that is the score before anything is turned
  6 * math.cos(math.pi / 6): the places differ by 2, and each step turns by π/6
  6 * math.cos(4 * math.pi / 6): subtract one angle from the other, don't add them: the
    score hangs on the difference
  ? Both vectors lie on the first axis. By which angle is each turned?
  ? By 3π/6 and π/6. What is the angle between them then?
  ? 2 · 3 · cos(2π/6).
rope_score_both_moved: the score at places 7 and 5
  = 2 * 3 * math.cos(2 * math.pi / 6)
  rounding 1e-3
  6 * math.cos(math.pi / 6): both have moved by four places: how far apart are they now?
  6 * math.cos(12 * math.pi / 6) or 6 * math.cos(6 * math.pi / 6) or 6 * math.cos(8 *
    math.pi / 6): the score hangs on the difference of the angles, which is as before
  ? Both arrows are turned on by the same angle.
  ? What has become of the angle between them?
  ? It is still 2π/6, so the score is what it was.
rope_score_key_moved: the score at places 3 and 2
  = 2 * 3 * math.cos(math.pi / 6)
  rounding 1e-3
  2 * 3 * math.cos(2 * math.pi / 6): the key alone has moved, so they are 1 apart now
  6: the places still differ by 1
  ? By how many places do they differ now?
  ? By one, so by an angle of π/6.
  ? 2 · 3 · cos(π/6).
why_a_fresh_norm_hides_it: why it shows in trained norms alone, "a", "b", "c" or "d"
  = "b"
  "a": the scores of a fresh model are about as large as those after the change
  "c": it does: without the norm the vectors would have other lengths
  "d": the scores of the changed norms are divided by √d too, and there it shows
  ? What does a norm do to a vector if all its weights are 1?
  ? It divides all its numbers by one and the same number.
  ? A turn leaves the length alone; only unequal weights change the direction.
swiglu_hidden_dim: M of a gated MLP with as many parameters as an MLP of 768 and 3,072
  = 2048
  3072: that has half as many parameters again: a gated MLP has three matrices
  1536: that is half; there are three matrices in place of two, so it is two thirds
  4608: that makes it larger; three matrices have to share what two had
  ? Count the numbers in the matrices of both, with D and M.
  ? 2 · D · 3072 = 3 · D · M.
  ? 3072 · 2 / 3.
swiglu_times_as_many: how many times as many parameters it has with the same M
  = 1.5
  3: that is its matrices; the other has two
  2: it has three matrices, the other two
  2 / 3: that is the other way round
  0.5: half as many more is 1.5 times as many
  ? How many matrices of D × M numbers do they have?
  ? Three and two.
  ? 3 / 2.
differences_of_packed_runs: a dictionary with three differences from separate runs
  accept numbers("right", "mask open", "rows go on")
  if not 0 <= given["right"] < 1e-3: has a packed run, the right one, that is not equal
    to the runs of each image alone: has pack_images passed its check?
  if given["mask open"] < 1e-3: has no difference for 'mask open', where there is one
  if given["rows go on"] < 1e-3: has no difference for 'rows go on', where there is one
  if given["mask open"] < 2 * given["rows go on"]: has an open mask that changes about
    as little as the rows do: is each changed by itself, with the other as it should be?
  ? angles, mask = pack_images(grids, d), then largest_difference(angles, mask).
  ? Where the mask is open, it is torch.ones_like(mask); where the rows go on, the
    angles are those of rows_go_on.
  ? measured["mask open"] = largest_difference(angles, torch.ones_like(mask)).
rows_that_go_on_without_class_tokens: what changes, "a", "b", "c" or "d"
  = "b"
  "a": scores hang on differences of places: what are those inside the second image now?
  "c": the columns have the same differences as well, and so have the rows
  "d": the mask keeps the images apart, and the first one has kept its places
  ? Take two patches of the second image. By how much does each of them move?
  ? Both by the same number of rows. The score hangs on the difference.
  ? The class token stayed at angle 0 while the patches moved; without it, who notices?
"""
