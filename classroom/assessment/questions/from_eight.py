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
