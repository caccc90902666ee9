import math

SEEN = {"A": "shuffled", "B": "alone", "C": "shared", "D": "positions off", "E": "none"}
FOUND = {
    "A": "images mixed",
    "B": "drawn at random",
    "C": "tokens mixed",
    "D": "not connected",
    "E": "nothing seen",
}
PROJECTS = {"A": "imbalance", "B": "rate", "C": "leak"}
ENTROPY = -sum(share * math.log(share) for share in (0.5, 0.25, 0.25))

QUESTIONS = """
tests_that_see_five_bugs: a dictionary from the bugs A to E to the name of a test, or
    'none'
  = SEEN
  SEEN | {"A": "positions off"}: has the wrong test at A: positions that are never added
    are not there to be switched off; what should move and does not?
  SEEN | {"A": "silent"}: has another test at A than the one asked for: it is true that
    they get no gradient, but here they are not parameters
  SEEN | {"B": "again"}: has the wrong test at B: asked again, it gives the same answer
  SEEN | {"D": "shuffled"}: has the wrong test at D: with positions, shuffled patches
    move the logits anyway, as they should
  SEEN | {"E": "one batch"}: has a test at E that sees nothing: training can undo it
  SEEN | {"E": "positions off"}: has a test at E that sees nothing: all tokens are alike
  ? For each test, what must stay and what must move, and does the bug change that?
  ? What does an image's answer depend on, in each case: the order of its patches, the
    other images, the place in the row?
  ? One of them treats all images and all tokens alike, every time; and one is not in
    the numbers but in the names.
loss_of_a_constant_answer: the lowest loss if all images of the batch get one answer
  = ENTROPY
  rounding 2e-3
  math.log(3): is that of three classes that are equally frequent
  math.log(10): is that of ten classes that are equally frequent
  ENTROPY / math.log(2): is in bits; the loss is in natural logarithms
  -ENTROPY: has the wrong sign: a loss is not negative
  -math.log(0.5): is the loss of the images of class 0 alone; take the mean over all
  ? The best constant answer gives each class its share of the batch.
  ? An image of a class with share p then costs −ln p, and there are p of these.
  ? Add −p · ln p over the shares 1/2, 1/4 and 1/4.
lowest_loss_after_a_softmax: the lowest loss of five classes if a softmax comes last
  = math.log(math.e + 4) - 1
  rounding 2e-3
  0.0: cannot be reached: what the loss gets are at most 1 and 0
  math.log(math.e + 9) - 1: is that of ten classes
  math.log(math.e + 5) - 1: counts the right class twice
  math.log(5): is where it starts, not where it ends
  math.log(math.e + 4): leaves out the logit of the right class, which is 1
  ? At best the model puts out a 1 and four zeros.
  ? The softmax of these gives the right class e / (e + 4).
  ? −ln(e / (e + 4)).
first_loss_after_a_softmax: the loss while all five classes are equally likely
  = math.log(5)
  rounding 2e-3
  math.log(10): is that of ten classes
  math.log(math.e + 4) - 1: is where it can end, not where it starts
  0.2: is the probability; the loss is minus its logarithm
  ? Five equal numbers go into the loss, whatever they are.
  ? The softmax of five equal numbers gives each 1/5.
  ? −ln(1/5).
findings_on_five_patients: a dictionary from the patients A to E to their findings
  = FOUND
  FOUND | {"B": "images mixed"}: has the wrong finding at B: it fails alone, too, but
    ask it again with the same images first
  FOUND | {"B": "tokens mixed"}: has the wrong finding at B: it moves whatever you do;
    which of the tests changes nothing at all between two calls?
  FOUND | {"D": "no positions"}: has the wrong finding at D: shuffled patches do not
    move its logits, but nothing else does either
  FOUND | {"A": "tokens mixed"}: has the wrong finding at A: what moves its logits is
    the other images in the batch
  FOUND | {"C": "images mixed"}: has the wrong finding at C: alone it answers the same
  ? Make a table: a row for each patient, a column for each test.
  ? Begin with asking again: what draws at random fails other tests as well.
  ? One patient has silent parameters in all its blocks, and one shows no symptom.
place_where_patient_e_parts: the name of the first place where patient E differs from
    the sound model
  = "blocks.0.attn.proj"
  "blocks.0.attn.v": is the last place where they agree; where do they first differ?
  "logits": is the end, where they differ of course
  "blocks.0.attn": comes after the place where they part
  "blocks.0": is a whole block; the place is inside it
  ? first_difference needs both models in eval mode, and images.
  ? Its answer has a place, and the last place before it where both agree.
  ? first_difference(sound, patients['E'], images).place
findings_on_three_projects: a dictionary from the projects A to C to one of six words
  = PROJECTS
  PROJECTS | {"A": "nothing"}: has the wrong finding at A: nine of ten are right, and
    which class are those?
  PROJECTS | {"A": "leak"}: has the wrong finding at A: it saw none of the unseen
  PROJECTS | {"B": "labels"}: has the wrong finding at B: train it again on the same
    labels, at a hundredth of its rate
  PROJECTS | {"B": "imbalance"}: has the wrong finding at B: it answers one class, but
    the classes are as frequent as they should be
  PROJECTS | {"C": "nothing"}: has the wrong finding at C: its accuracy is good, too
    good for 200 images; which of its unseen images are new?
  ? Count copies, labels of each class, answers of each class. What of a lower rate?
  ? One project answers a single class because it has hardly seen another, and one
    because it learned nothing.
  ? The best accuracy of the three belongs to images that the model knows.
unseen_images_that_were_known: how many of C's unseen images it learned from
  = 68
  32: counts the images that are new
  100: is the number of all unseen images
  200: is the number of images that it learned from
  ? Two images are the same if all their pixels are.
  ? Put the bytes of all known images into a set, and count the unseen ones in it.
  ? sum(image.numpy().tobytes() in known for image in unseen)
accuracy_if_classes_count_alike: the mean of A's shares of right answers in both classes
  = 0.5
  rounding 1e-3
  203 / 225: is the share of all images; the class of the others has nine of ten
  0.0: is the share of right answers among the eights alone
  1.0: is the share of right answers among the others alone
  ? Which share of the eights is right, and which share of the others?
  ? It gives the same answer for every image.
  ? One share is 1 and the other is 0.
"""
