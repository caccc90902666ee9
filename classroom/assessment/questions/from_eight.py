"""Questions from chapter 8 on: training, maps, other people's weights, and beyond."""

from dataclasses import replace
from statistics import mean
from typing import Any

import torch

from classroom.assessment.quiz import Ask, about
from vit_steps import VisionTransformer, ViTConfig, token_count
from vit_steps.training_cost import training_memory
from vit_steps.variants.rotary import apply_rope
from vit_steps.variants.swin import relative_position_index, shifted_window_mask


@about(
    8,
    "A larger mean is a gain",
    ((0.951, 0.962, 0.956), (0.960, 0.948, 0.955)),
    ((0.968, 0.971, 0.966), (0.931, 0.938, 0.929)),
    ((0.902, 0.911, 0.889), (0.897, 0.908, 0.894)),
)
def three_seeds(new: tuple[float, ...], old: tuple[float, ...]) -> Ask:
    gap = mean(new) - mean(old)
    apart = min(new) > max(old)
    clear = apart or gap < (max(old) - min(old)) / 2
    assert gap > 0 and clear, "the runs are apart, or they are not at all"
    as_text = [", ".join(f"{accuracy:.3f}" for accuracy in runs) for runs in (new, old)]
    seen = "Every run with it is above every run without it, so it helped here"
    unseen = "No difference was seen, because the seeds differ by more than the means"
    return Ask(
        f"With a new ingredient three seeds reach {as_text[0]}, and without it three "
        f"seeds reach {as_text[1]}. What can you report?",
        right=seen if apart else unseen,
        why=f"The means are {gap:.3f} apart. Three seeds without it span "
        f"{max(old) - min(old):.3f}, and those with it {max(new) - min(new):.3f}.",
        wrong={
            (unseen if apart else seen): "the runs are not compared with each other",
            f"It brings {100 * gap:.1f} points, whatever the model and the data": "the "
            "difference of two means is taken for a property of the ingredient",
            "It has no effect, so it can be left out everywhere": "a difference that "
            "was not seen is taken for one that is not there"
            if not apart
            else "what three seeds showed is not believed",
        },
    )


@about(
    8,
    "A Transformer beats simpler models, or a test score says how good a model is",
    "centred",
    "moved",
)
def small_data(digits: str) -> Ask:
    if digits == "centred":
        return Ask(
            "On scikit-learn's 1,797 digits of 8×8 pixels, a support vector classifier "
            "(SVC) reads about 99 of 100 test digits. How does a small ViT compare, "
            "trained on the same digits?",
            right="It reads about as many, at best, and takes far longer to learn",
            why="On so few, small and centred images two pictures of one digit are "
            "alike pixel by pixel, and a ViT has no advantage.",
            wrong={
                "It reads clearly more, because attention sees the whole image": "the "
                "architecture is thought to win on any amount of data",
                "It reads only half of them, because it needs millions of images": "a "
                "ViT is thought to learn nothing from little data",
                "It is level with the SVC and learns faster": "what one step of "
                "training does is overlooked: it comes again for every batch",
            },
        )
    return Ask(
        "An SVC and a ViT read 99 of 100 of scikit-learn's test digits. The ViT saw "
        "moved and turned copies in training, and the SVC did not. Now each test digit "
        "is moved by one pixel. What happens?",
        right="The SVC falls to about half, and the ViT loses a few in a hundred",
        why="The SVC compares pixel by pixel with digits that were all centred. The "
        "test digits did not reveal this, because they are centred too.",
        wrong={
            "Both keep their 99, because one pixel is little": "99 of 100 is taken "
            "for a property of the model and not of the test",
            "The ViT falls to about half, because its positions are learned": "a ViT "
            "is thought to tie every patch to its place",
            "Both fall to about half": "what was seen in training is thought not to "
            "matter",
        },
    )


@about(
    9,
    "The model uses what the map shows",
    "removal",
    "class",
)
def what_a_map_says(asked: str) -> Ask:
    if asked == "removal":
        return Ask(
            "An attention map is bright on the object. Which experiment says most "
            "about whether the model needs these patches?",
            right="Cover them, and compare with covering as many random patches, and "
            "as many of the brightest",
            why="Only the covering asks the model. Without something to compare with, "
            "any loss looks large.",
            wrong={
                "Cover them, and see that the accuracy falls": "a fall without "
                "anything to compare it with is taken for evidence",
                "Measure which share of the map is inside the object": "where the map "
                "is bright is taken for what the model uses",
                "Look at maps of many images": "more of the same picture is taken for "
                "a test",
            },
        )
    return Ask(
        "The attention of the class token is drawn for an image with a cat and a dog. "
        "How does the map that explains *cat* differ from the one that explains *dog*?",
        right="There is only one map: it does not know of classes",
        why="The weights are there before the head has computed any logit, and they do "
        "not say what the values held.",
        wrong={
            "Each is bright on its own animal": "the map is thought to show the reason "
            "for an answer",
            "The map of the class that wins is the brighter one": "attention is "
            "thought to grow with a logit",
            "One of them is the other, inverted": "classes are thought to divide the "
            "attention among them",
        },
    )


@about(
    9,
    "Chance is one half",
    (64, 16),
    (60, 24),
    (50, 10),
)
def uniform_map(image: int, box: int) -> Ask:
    share = box**2 / image**2
    return Ask(
        "A map is scored by the share of its attention inside the object's box. The "
        f"image has {image}×{image} pixels and the box {box}×{box}. Which score does a "
        "map get that is the same everywhere?",
        right=f"{share:g}",
        why=f"Its share is that of the area: {box}·{box} / ({image}·{image}). A score "
        "means something only beside this one.",
        wrong={
            f"{box / image:g}": "the sides are compared and not the areas",
            "0.5": "chance is thought to be one half",
            "0": "a map that points nowhere is thought to score nothing",
        },
    )


@about(
    10,
    "A small difference of logits is rounding",
    3e-4,
    1e-6,
)
def difference_of_logits(difference: float) -> Ask:
    rounding = "Rounding: the two models compute the same"
    detail = "A small thing is different, such as eps or the kind of GELU"
    is_rounding = difference < 1e-5
    size = f"{difference:.0e}".replace("e-0", "e-")
    return Ask(
        "You load published weights into your own ViT-B/16. In float32 its logits, "
        f"which are numbers around 1, differ from the library's by at most "
        f"{size}. What is the most likely reason?",
        right=rounding if is_rounding else detail,
        why="Right conversions differ by about 1e-6 in the logits. A wrong eps or a "
        "tanh-GELU costs 1e-4 to 2e-3, and anything larger is a larger mistake.",
        wrong={
            (detail if is_rounding else rounding): "a float32 is thought to be more "
            "exact than it is"
            if is_rounding
            else "a difference that hardly shows is taken for rounding",
            "Half of the weights were not loaded": "such a mistake would change every "
            "logit by as much as the logits themselves",
            "The number of heads is wrong": "such a mistake would change which class "
            "wins",
        },
    )


@about(
    10,
    "If all names and shapes fit, the model is the right one",
    "shapes",
    "zeros",
)
def checkpoint(asked: str) -> Ask:
    if asked == "shapes":
        small = ViTConfig(32, 8, embed_dim=24, depth=2, num_heads=3, num_classes=5)

        def shapes(**changes: Any) -> dict[str, tuple[int, ...]]:
            state = VisionTransformer(replace(small, **changes)).state_dict()
            return {name: tuple(tensor.shape) for name, tensor in state.items()}

        same = shapes(num_heads=6) == shapes()
        others = ({"embed_dim": 48}, {"patch_size": 16}, {"depth": 3})
        assert same and all(shapes(**change) != shapes() for change in others)
        return Ask(
            "You have a file with the weights of a ViT, all with names and shapes, and "
            "nothing else. What can you not read from it?",
            right="The number of heads",
            why="`qkv` and `proj` have the same shapes for any number of heads. It has "
            "to be in the file's settings, or in the paper.",
            wrong={
                "The side of a patch": "the weight of the patch embedding is (D, C, P, "
                "P), but it is not thought of",
                "D": "it is the length of the class token, but shapes are thought to "
                "show only how many numbers there are",
                "The number of blocks": "it is how many `blocks.i` there are, but "
                "names are thought to be arbitrary",
            },
        )
    return Ask(
        "You test your ViT against a library's: both are fresh, you copy the library's "
        "weights into yours, and the logits are equal to the last bit. The library's "
        "head starts at zero. What does the test show?",
        right="Nothing yet: with a head of zeros all logits are 0",
        why="The test could not fail. Fill every tensor with random numbers, or take "
        "trained weights, before you compare.",
        wrong={
            "Both compute the same function": "a test that passes is taken for one "
            "that could have failed",
            "All weights were copied to the right places": "equal logits are thought "
            "to need equal weights",
            "The heads are right, but not yet the blocks": "a zero times anything is "
            "overlooked",
        },
    )


@about(
    11,
    "A measured time is the time that the work took",
    "GPU",
    "CPU",
)
def stopwatch(where: str) -> Ask:
    if where == "GPU":
        return Ask(
            "You read the clock, call a large model on a GPU, read the clock again, "
            "and get 0.3 ms. What have you measured?",
            right="How long it takes to put the work into the GPU's queue",
            why="The call returns before the work is done. Wait for the GPU "
            "(synchronise) before you read the clock, both times.",
            wrong={
                "The forward pass": "a call is thought to return when its work is done",
                "The forward pass and the copy of the logits to the CPU": "reading the "
                "clock is thought to fetch the logits",
                "The time until the first layer has its result": "the call is thought "
                "to return with the first result",
            },
        )
    return Ask(
        "In turns and with medians, a new version is 3 % faster than the old one. The "
        "old one, measured against itself in the same way, is off by up to 5 %. What "
        "do you report?",
        right="Nothing was measured that could tell the two apart",
        why="What a program shows against itself is the error of the stopwatch, and "
        "the difference is smaller.",
        wrong={
            "The new version is 3 % faster": "the median is thought to remove any "
            "error",
            "The new version is up to 8 % faster": "the error is added to the gain",
            "The new version is 2 % slower": "the error is taken off the gain as if "
            "it were known",
        },
    )


@about(
    11,
    "Training needs the memory of the weights",
    "base",
    "large",
    "small",
)
def fixed_memory(preset: str) -> Ask:
    config = getattr(ViTConfig, preset)()
    parameters = config.cost().parameters
    memory = training_memory(config, 1, autocast=False)

    def gigabytes(number: float) -> str:
        return f"{number / 1e9:.2f} GB"

    fixed = memory.weights + memory.gradients + memory.optimizer
    name = preset[0].upper()
    return Ask(
        f"ViT-{name}/16 has {parameters / 1e6:.1f} million parameters. It is trained "
        "in float32 with AdamW. How much memory do the parameters and what belongs to "
        "them take, before the first image?",
        right=gigabytes(fixed),
        why="16 bytes for each parameter: 4 for the weight, 4 for its gradient, and 8 "
        "for AdamW's two averages.",
        wrong={
            gigabytes(memory.weights): "only the weights are counted",
            gigabytes(memory.weights + memory.gradients): "the optimiser's averages "
            "are forgotten",
            gigabytes(fixed - memory.optimizer / 2): "AdamW is thought to keep one "
            "average",
        },
    )


@about(
    12,
    "Every process sends its gradient to every other",
    (8, "base"),
    (4, "small"),
    (16, "base"),
)
def ring(processes: int, preset: str) -> Ask:
    vector = 4 * getattr(ViTConfig, preset)().cost().parameters / 1e6
    sent = 2 * (processes - 1) / processes * vector
    return Ask(
        f"{processes} processes train together with DDP. Each has a gradient of "
        f"{vector:.0f} MB, which a ring all-reduce averages. How much does each "
        "process send in a step?",
        right=f"{sent:.0f} MB",
        why=f"There are two trips round the ring, and on each it sends "
        f"{processes - 1} pieces, each of them 1/{processes} of the vector.",
        wrong={
            f"{(processes - 1) * vector:,.0f} MB": "each is thought to send the whole "
            "vector to each of the others",
            f"{sent / 2:.0f} MB": "the second trip is forgotten, which hands the sums "
            "round",
            f"{vector / processes:.0f} MB": "each is thought to send its piece once",
        },
    )


@about(
    12,
    "Sharding divides everything by the number of GPUs",
    "FSDP",
    "DDP",
)
def who_holds_what(kind: str) -> Ask:
    if kind == "FSDP":
        return Ask(
            "A ViT trains with DDP on eight GPUs with 128 images each. With 256 images "
            "each it runs out of memory. A colleague suggests FSDP. Which part of "
            "the memory would *not* become smaller?",
            right="The activations",
            why="FSDP divides weights, gradients and averages. Each GPU still keeps "
            "the activations of its own 256 images, and they are what had no room.",
            wrong={
                "The weights": "FSDP is thought to divide the images alone, as DDP "
                "does",
                "The gradients": "they are thought to be needed whole, because they "
                "are averaged",
                "AdamW's averages": "FSDP is thought to leave the optimiser as it is",
            },
        )
    return Ask(
        "A model trains on eight GPUs with DDP, and a colleague expects each of them "
        "to hold an eighth of everything. What is really divided among the eight?",
        right="The images of a batch, with their activations",
        why="Every process has all weights, all gradients and both averages. They stay "
        "equal because the gradients are averaged before each step.",
        wrong={
            "The blocks of the model": "DDP is taken for a pipeline",
            "The weights, with their gradients and averages": "DDP is taken for FSDP",
            "The gradients and AdamW's averages": "DDP is taken for ZeRO-2, a step on "
            "the way to FSDP",
        },
    )


@about(
    13,
    "Windows reduce the comparisons by the number of tokens in a window",
    (56, 7),
    (24, 6),
    (32, 4),
)
def windows(side: int, window: int) -> Ask:
    pairs, inside = side**4, side**2 * window**2
    return Ask(
        f"A map of {side}×{side} tokens is divided into windows of {window}×{window}, "
        "and each token attends only to those of its own window. By what factor does "
        "this reduce the number of pairs that are compared?",
        right=f"{pairs // inside}",
        why=f"Each token compares itself with {window**2} instead of {side**2:,} "
        "tokens. The factor is the number of windows.",
        wrong={
            f"{window**2}": "it is thought to be the number of tokens in a window",
            f"{side // window}": "the windows are counted along one side only",
            f"{side**2:,}": "each token is thought to be left with one comparison",
        },
    )


@about(
    13,
    "In shifted windows all tokens of a window may attend to each other",
    "why",
    "where",
)
def mask(asked: str) -> Ask:
    masked = [not window.all() for window in shifted_window_mask(8, 8, 4, 2)]
    assert masked == [False, True, True, True], "those at the bottom and the right"
    if asked == "why":
        return Ask(
            "A Swin block rolls the map up and to the left, and then cuts it into "
            "windows. Why do the windows at the bottom and at the right edge need a "
            "mask?",
            right="Tokens from opposite edges of the map meet in them",
            why="What leaves the map at the top comes in at the bottom. Such tokens "
            "were no neighbours, so they may not attend to each other.",
            wrong={
                "They are smaller than the others": "the roll is thought to leave "
                "windows that are not full",
                "They are filled up with zeros": "the roll is taken for padding",
                "They must not see what comes after them": "it is taken for the "
                "causal mask of a language model",
            },
        )
    return Ask(
        "A map of 8×8 tokens is rolled up and to the left by two, and cut into four "
        "windows of 4×4. In how many of the four windows does the mask forbid pairs of "
        "tokens?",
        right=f"{sum(masked)}",
        why="In those at the bottom and at the right, where tokens from opposite edges "
        "of the map meet. The window at the top left is whole.",
        wrong={
            "0": "all tokens of a window are thought to be neighbours",
            "1": "only the corner is thought of, where all four edges meet",
            "4": "every shifted window is thought to need a mask",
        },
    )


@about(
    13,
    "Every pair of tokens has a bias of its own",
    7,
    8,
    12,
)
def bias_table(w: int) -> Ask:
    differences = len(relative_position_index(w).unique())
    values = 2 * w - 1
    return Ask(
        "In Swin a learned number is added to each score. It depends on row and column "
        "of the query minus row and column of the key. How many such numbers does one "
        f"head have for windows of {w}×{w}?",
        right=f"{differences}",
        why=f"A difference of rows goes from −{w - 1} to {w - 1}, which are {values} "
        f"values, and so does one of columns: {values}·{values}.",
        wrong={
            f"{w**4:,}": "each pair of tokens is thought to have its own",
            f"{w**2}": "the sign of a difference is overlooked",
            f"{values}": "only one direction is counted",
        },
    )


@about(
    14,
    "A falling loss means that the code is right",
    "curves",
    "accuracy",
)
def it_learns(evidence: str) -> Ask:
    if evidence == "curves":
        return Ask(
            "Two models train on the same digits. One has a bug. Model A learns faster "
            "and ends a little higher than model B. Which one has the bug?",
            right="These curves cannot tell",
            why="Training works around any mistake that loses no information. In the "
            "bug clinic it is model A that has the bug.",
            wrong={
                "Model B, because it learns more slowly": "a bug is thought to cost "
                "accuracy",
                "Model A, because a sound model cannot learn so fast": "a guess is "
                "turned into a rule",
                "The one whose training loss is higher at the end": "a bug is "
                "thought to show in the loss",
            },
        )
    return Ask(
        "A colleague's ViT reads 97 of 100 digits, and the weights of a sound model "
        "load into it without an error. What has been shown?",
        right="That something can be learned, and that names and shapes agree",
        why="Loading compares no numbers, and training works around mistakes that lose "
        "no information. Compare the logits with those of the sound model.",
        wrong={
            "That it computes what the sound model computes": "names and shapes are "
            "taken for what is computed with them",
            "That it has no bug that matters": "a good score is taken for a proof",
            "That its attention is right, but perhaps not its patches": "loading is "
            "thought to test a part of the model",
        },
    )


SYMPTOMS = {
    "alone": (
        "its logits for an image move when the image comes alone instead of in a "
        "batch, while the same batch always gives the same logits",
        "Attention runs along the batch, because `batch_first` was left out",
        "The logits of an image may not depend on other images. Here they do, so "
        "attention looks along the axis of images.",
    ),
    "shuffled": (
        "its logits stay the same when the patches of an image change places",
        "The positions are not added to the patches",
        "Without positions the patches are a set. A sound model has to notice that "
        "they have changed places.",
    ),
    "again": (
        "its logits differ a little each time when the same image comes again",
        "A dropout stays on in evaluation mode",
        "Something is still drawn at random, and in evaluation mode nothing may be.",
    ),
    "silent": (
        "the parameters of one of its layers get no gradient at all",
        "A layer is made and not called",
        "A parameter on which the logits do not depend gets no gradient.",
    ),
}


@about(
    14,
    "Any bug shows in any test",
    "alone",
    "shuffled",
    "again",
    "silent",
)
def symptom(which: str) -> Ask:
    text, right, why = SYMPTOMS[which]
    others = {bug: sign for name, (sign, bug, _) in SYMPTOMS.items() if name != which}
    return Ask(
        "The head of somebody's ViT reads the mean of all tokens. You examine the "
        f"model in evaluation mode and see that {text}. Which bug does that?",
        right=right,
        why=why,
        wrong={bug: f"its symptom is that {sign}" for bug, sign in others.items()},
    )


@about(
    15,
    "A rotary position gives a token a place, so the places count",
    ((10, 7), (25, 22), (7, 10), (20, 14)),
    ((5, 9), (12, 16), (9, 5), (10, 18)),
    ((8, 2), (11, 5), (2, 8), (16, 4)),
)
def rotary(
    pair: tuple[int, int],
    same: tuple[int, int],
    back: tuple[int, int],
    double: tuple[int, int],
) -> Ask:
    q, k = torch.tensor([[1.0, 0.3]]), torch.tensor([[0.4, -0.8]])

    def score(places: tuple[int, int]) -> float:
        angles = [torch.tensor([[0.1 * place]]) for place in places]
        query, key = apply_rope(q, angles[0]), apply_rope(k, angles[1])
        return (query * key).sum().item()

    near = (pair[0], pair[1] + 1)
    assert abs(score(same) - score(pair)) < 1e-5, "the right answer has the same score"
    for other in (back, double, near):
        assert abs(score(other) - score(pair)) > 1e-3, "the others do not"
    return Ask(
        "In a row of tokens with rotary positions, a query is at place "
        f"{pair[0]} and a key at place {pair[1]}. The same two vectors are now put at "
        "other places. Where do they have the same score?",
        right=f"query at {same[0]}, key at {same[1]}",
        why="Both turn by angles that grow with their places, so only the difference "
        f"counts, query minus key: {pair[0] - pair[1]}.",
        wrong={
            f"query at {back[0]}, key at {back[1]}": "the distance is thought to count "
            "and not the direction",
            f"query at {double[0]}, key at {double[1]}": "the ratio of the places is "
            "thought to count",
            f"query at {near[0]}, key at {near[1]}": "the place of the query alone is "
            "thought to count",
        },
    )


@about(
    15,
    "Registers take the place of patches, or are read by the head",
    (224, 16, 4),
    (256, 16, 5),
    (224, 14, 8),
)
def registers(size: int, patch: int, count: int) -> Ask:
    N = token_count(size, patch)
    return Ask(
        f"A ViT of today gets an image of {size}×{size} pixels in patches of "
        f"{patch}×{patch}. It has a class token and {count} registers. How many rows "
        "does the table of attention weights of one head have?",
        right=f"{N + 1 + count}",
        why="Registers are tokens: they have queries, keys and values like the "
        "others, and only the head does not read them.",
        wrong={
            f"{N + 1}": "registers are thought to take no part in attention",
            f"{N + count}": "registers are thought to replace the class token",
            f"{N + 1 - count}": "registers are thought to take the place of patches",
        },
    )
