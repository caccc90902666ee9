from typing import Any

from vit_steps.vision_transformer import ViTConfig


def shapes() -> dict[str, tuple[int, ...]]:
    B, h, config = 3, 4, ViTConfig(60, 12, 1, 7, embed_dim=40, depth=5, num_heads=4)
    steps = {step.name: step.shape for step in config.cost().steps}
    T, D = steps["cls_token"]
    return {
        "patches": (B, T - 1, D),
        "tokens": (B, T, D),
        "after block 4": (B, T, D),
        "class token": (B, D),
        "logits": (B, config.num_classes),
        "weights of a block": (B, h, T, T),
    }


SHAPES = shapes()


def shapes_but(**changed: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    names = {name.replace(" ", "_"): name for name in SHAPES}
    return SHAPES | {names[name]: shape for name, shape in changed.items()}


def growth(**changed: Any) -> int:
    before = ViTConfig.small(num_classes=10)
    after = ViTConfig.small(num_classes=10, **changed)
    return after.cost().parameters - before.cost().parameters


QUESTIONS = """
shapes_through_a_model: a dictionary of six shapes
  = SHAPES
  shapes_but(patches=(3, 5, 40), tokens=(3, 6, 40)): counts the patches along one side;
    an image has rows and columns
  {name: shape[1:] for name, shape in SHAPES.items()}: leaves out the batch, which is
    the first number of every shape
  shapes_but(class_token=(1, 1, 40)): gives the parameter; the head reads rows of images
  shapes_but(weights_of_a_block=(5, 3, 4, 26, 26)): gives the weights of all blocks;
    those of one are asked for
  shapes_but(patches=(3, 25, 144)): gives the patches as they are cut, P² numbers each;
    the embedding turns each into D
  shapes_but(patches=(3, 26, 40)): has the class token among the patches; it joins later
  shapes_but(tokens=(3, 25, 40), after_block_4=(3, 25, 40)): leaves out the class token
  shapes_but(logits=(3, 26, 7)): lets the head read every token; it reads one
  shapes_but(class_token=(3, 1, 40)): keeps an axis of one token; the index 0 removes it
  shapes_but(weights_of_a_block=(3, 26, 26)): has one matrix; each head has its own
  shapes_but(weights_of_a_block=(3, 4, 25, 25)): leaves the class token out of
    attention; it looks and is looked at
  ? How many patches of 12 lie along a side of 60?
  ? N = 5·5, T = N + 1. B is first everywhere, and D is 40.
  ? The weights of a block are (B, h, T, T).
causes_of_four_first_losses: a dictionary from the runs A to D to the numbers 1 to 4 of
    the causes
  = {"A": 3, "B": 1, "C": 4, "D": 2}
  {"A": 3, "B": 4, "C": 1, "D": 2}: has B and C exchanged: both start at ln 10, and one
    of them cannot tell images apart
  {"A": 2, "B": 1, "C": 4, "D": 3}: has A and D exchanged: which of the two first losses
    is the logarithm of a round number?
  {"A": 1, "B": 3, "C": 4, "D": 2}: has A and B exchanged: what must the first loss be
    with ten classes and a zero head?
  {"A": 4, "B": 1, "C": 3, "D": 2}: has A and C exchanged: any head has K = 10
  ? Take e to the power of each first loss.
  ? ln 10 is 2.30, ln 1000 is 6.91; a loss far above ln K means very large logits.
  ? What is the same for every image gives each the same answer, and no loss falls.
growth_by_one_block: by how many parameters ViT-S/16 grows with a 13th block
  = growth(depth=13)
  12 * 384**2: leaves out the biases and the norms of the block
  12 * 384**2 + 9 * 384: leaves out the two norms of the block
  12 * 384**2 + 11 * 384: counts one norm, or norms of D numbers
  12 * 768**2 + 13 * 768: is a block of ViT-B; D is 384 here
  ? A block has a formula in D alone when M is 4·D.
  ? 12·D² + 13·D.
  ? D is 384.
growth_by_larger_images: how many parameters images of 384×384 add to it
  = growth(image_size=384)
  24**2 - 14**2: is the number of new tokens; each has a position of D numbers
  24**2 * 384: counts all positions of the larger grid, the old ones too
  0: forgets that each place in the grid has a position of its own
  (24**2 - 14**2) * 768: counts positions of ViT-B; D is 384 here
  ? Which parameters know anything about the size of the image?
  ? One position for each place in the grid. How many new places are there?
  ? (24·24 - 14·14)·384.
whom_the_class_token_meets: one of the letters a, b, c and d
  = "c"
  "a": is how it should be; then its row would differ by image
  "b": would still let it see the image, in part
  "d": is nearly right: it looks at itself, and at others like it
  ? Without batch_first the layer reads the first axis as tokens, the second as batch.
  ? Row 0 of every image is one sequence then, row 1 of every image another.
  ? Row 0 of every image is a class token.
argument_that_is_missing: the name of an argument of nn.TransformerEncoderLayer
  = "batch_first"
  "batch_first=True": has its value too; the name alone is asked for
  "norm_first" or "activation" or "layer_norm_eps": is set, and rightly
  "dropout": is set to 0, which changes nothing in eval()
  "nhead": is given, as the second argument
  "bias": is True by default, and that is right
  ? Look for what the layer takes to be the first axis.
  ? help(nn.TransformerEncoderLayer) lists the arguments; one names the batch's axis.
  ? It is False by default.
what_a_trained_model_needs: a dictionary of five accuracies
  accept numbers("nothing", "class token", "positions", "shuffled", "mean", low=0,
    high=1)
  if given["nothing"] < 0.8: says that the model as it is gets more than one image in
    five wrong, which it does not: are the images normalised, is it in eval()?
  if given["class token"] < 0.85: has too low an accuracy at 'class token': only its own
    vector should be zero; its row stays, and so does its position
  if given["positions"] > 0.5: has too high an accuracy at 'positions': all of them
    should be zero, in the tokens that go into the first block
  if given["shuffled"] > 0.5: has too high an accuracy at 'shuffled': shuffle the
    patches before the positions are added, so that each gets a different one's
  if not 0.6 < given["mean"] < given["nothing"]: does not fit at 'mean': the head should
    read the mean over all tokens after the final norm
  ? Begin each change at the place in the model where it belongs: before the first
    block, or after the final norm.
  ? Write embed by hand: model.patch_embed(images), the class token in front, the
    positions on top; then the blocks, model.norm and model.head.
  ? 'shuffled' is patches[:, order] before the class token and the positions come;
    'mean' is model.norm(x).mean(dim=1) into model.head.
why_the_class_token_is_not_missed: one of the letters a, b and c
  = "b"
  "a": is not so: the head reads row 0, in your forward pass too
  "c": is not so: it is a parameter and was trained with the rest
  ? What else is in row 0 before the first block?
  ? Two vectors are added there, and both are the same for every image.
  ? Its position is still there.
"""
