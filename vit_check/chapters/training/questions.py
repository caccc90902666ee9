from vit_steps.training import learning_rate

RECIPES = ("as it is", "a tenth of the rate", "no clipping")

QUESTIONS = """
steps_of_a_training: three whole numbers: steps in an epoch, in all, of these warm-up
  = (math.ceil(5000 / 96), 20 * math.ceil(5000 / 96), 2 * math.ceil(5000 / 96))
  (52, 1040, 104): leaves out the smaller last batch, a step all the same
  (53, 1042, 105): rounds up once for all; every epoch has its own last batch
  (5000, 100_000, 10_000): counts images; a step takes a whole batch of them
  (96, 1920, 192): takes the images of a batch for the steps
  (53, 1060, 2): gives the warm-up in epochs, expected in steps
  (53, 20, 2): gives training and warm-up in epochs, expected in steps
  (53, 1166, 106): adds the warm-up to the 20 epochs; it is the first two of them
  ? How many batches of 96 does it take to see 5000 images once?
  ? 52 full batches leave 8 images, which are one more step.
  ? (53, 20 · 53, 2 · 53).
step_at_half_the_rate: the step, from 0, at which the rate has fallen to half its peak
  = min(range(106, 1060),
    key=lambda step: abs(learning_rate(step, 1060, 106, 2.0) - 1.0))
  530: is the middle of the training; the fall begins after the warm-up
  477: is half as long as the fall; count from step 0
  52 or 53: is in the warm-up, where the rate passes its half on the way up
  795: is three quarters of the way; half a cosine is half down halfway
  ? How far along its way is half a cosine at half its height?
  ? Halfway between the end of the warm-up and the end of the training.
  ? (106 + 1060) / 2.
gradient_of_a_smoothed_loss: four numbers, the gradient for each logit
  = torch.func.grad(lambda logits: F.cross_entropy(logits, torch.tensor([1]),
    label_smoothing=0.2))(torch.tensor([[4.0, 2, 1, 1]]).double().log())[0]
  rounding 2e-3
  [0.5, -0.75, 0.125, 0.125]: is the gradient without smoothing
  [-0.45, 0.6, -0.075, -0.075]: has the wrong sign: a gradient points uphill, to a
    smaller logit for the right class
  [0.5 - 0.2 / 3, 0.25 - 0.8, 0.125 - 0.2 / 3, 0.125 - 0.2 / 3]: spreads ε over the
    three wrong classes; the right one has its share
  [0.45, -0.55, 0.075, 0.075]: leaves the right class without ε/K: the sum is not 0
  [0.5, -0.55, 0.125, 0.125]: takes ε from the right class and gives it to none
  [0.05, 0.85, 0.05, 0.05]: is the target alone
  [0.5, 0.25, 0.125, 0.125]: is the probabilities; take the target off
  ? What is the gradient without smoothing, and where is the label in it?
  ? Probability minus target, class by class; the sum is 0.
  ? The target is 0.05, 0.85, 0.05, 0.05.
gap_of_the_best_logits: the right logit minus another at the lowest smoothed loss
  = math.log((1 - 0.2 + 0.2 / 4) / (0.2 / 4))
  rounding 2e-3
  math.log(16): leaves the right class without its share of ε
  math.log(4): compares 0.8 with the whole of ε; each class has a part
  17.0: is the ratio of the probabilities; logits are their logarithms
  0.8: is the difference of the probabilities, expected of the logits
  math.log(12): spreads ε over the three wrong classes alone
  -math.log(17): has the wrong sign: the right logit is the larger one
  math.log10(17): is to base 10, expected the natural logarithm
  ? Where is the gradient 0?
  ? Where p is the target. What are two logits apart if p is so many times as large?
  ? ln of 0.85 divided by 0.05.
step_of_the_lowest_rate: the step, from 0, with the lowest faulty rate after warm-up
  = min(range(12, 61), key=lambda step: math.cos(math.pi * step / (60 - 12)))
  60: is where it should be lowest; this schedule is there earlier
  0: is in the warm-up; the question is where it is lowest after that
  12: is where the fall begins
  36: counts from the end of the warm-up; this schedule does not
  ? Half a cosine is down where progress is 1.
  ? For which step is step / (60 - 12) equal to 1?
  ? 60 - 12.
losses_of_one_batch: the loss of the first and of the last of 60 steps on one batch
  accept numbers(2)
  if not abs(given[0] - math.log(10)) < 0.01: begins with another loss than a head of
    zeros gives: is the model new, and the first number that before the first step?
  if not 0 <= given[1] < 0.5: ends too high for 32 digits learned by heart: does every
    step see the same batch, and does the optimizer have all parameters?
  ? Collect what your train_step returns, 60 times.
  ? One optimizer, made once, before the loop; the same 32 digits each time.
  ? [train_step(model, optimizer, few_images, few_labels, 1.0) for _ in range(60)].
weight_of_a_last_image: how many times as much a digit of the last batch counts
  = 64 / (225 - 3 * 64)
  rounding 6e-3
  33 / 64: is the other way round: the fewer share a quarter
  1.0: would be so if the batches were equally large
  4.0: is the number of batches
  0.25: is what the last batch as a whole counts
  225 / 33: compares the last batch with all digits
  ? How many digits are in the last batch?
  ? Each batch counts a quarter, shared by 64 digits, or by 33.
  ? 64 / 33.
runs_of_three_recipes: a dict of three lists of three accuracies
  accept numbers(*RECIPES, each=3, low=0, high=1)
  if all(len(set(runs)) == 1 for runs in given.values()): has the same number for every
    seed: the seed is not passed on
  if not min(given[RECIPES[0]]) > max(given[RECIPES[1]]): has no gap between the recipe
    and a tenth of its rate: are the changes passed on, and to the names they belong to?
  if not sum(given[RECIPES[0]]) > 1.5: has a recipe that learns next to nothing: are all
    four epochs run?
  ? For each of the three names, call trained_accuracy with the seeds 0, 1, 2.
  ? The change is passed by name: trained_accuracy(seed, **change).
  ? {name: [trained_accuracy(seed, **change) for seed in range(3)] for name, change in
    changes.items()}.
difference_beyond_luck: "a tenth of the rate", "no clipping", "both" or "neither"
  = "a tenth of the rate"
  "no clipping": has a range that overlaps the recipe's: seeds may exchange them
  "both": is one too many: one of the two ranges overlaps the recipe's
  "neither": overlooks one: all three runs of it are below all three of the recipe
  ? For each name, write down the smallest and the largest number.
  ? A difference is beyond luck here if two ranges do not overlap.
  ? One change costs far more than a seed does, the other no more than that.
"""
