"""Measure how often a trained model is right about a folder of images, by class.

vit-steps evaluate photos.safetensors photos/test
"""

import argparse
import sys

import torch

from vit_steps.command import check_new, model_parser, run_command
from vit_steps.optional import imported
from vit_steps.predict import asked, classifying
from vit_steps.predictions import Predictions
from vit_steps.vision_transformer import VisionTransformer

COLUMNS = 20  # with more, one for each class, the table is too wide for a screen


def main(arguments: list[str] | None = None) -> int:
    """Run the command; ``vit-steps evaluate --help`` describes it."""
    parser = model_parser(
        "evaluate",
        "Test a model on images that it was not trained on: how often it is right, how "
        "sure that number is, and what it takes each class for.",
    )
    add = parser.add_argument
    called = "images in folders with the names of the model's classes"
    add("folder", help=f"{called}; of train, val and test, the last is taken")
    add("--csv", metavar="OUT.csv", help="write all probabilities, a row an image")
    options = parser.parse_args(arguments)
    names = {"name": "model", "root": "folder", "csv": "--csv"}
    return run_command(lambda: _run(options), names)


def _run(options: argparse.Namespace) -> None:
    if options.csv:
        check_new(options.csv, options.overwrite, [options.model], "csv", ".csv")
    model = classifying(VisionTransformer.from_pretrained(options.model))
    known = model.preprocessing
    if known is None or not known.classes:
        got = f"got {options.model!r}, which does not name its classes"
        raise ValueError(f"model: {got}, expected one that training wrote")
    from vit_steps.data.folder import left_out, read_known

    folder, images = read_known(options.folder, known.classes)
    shown = {"total": len(images), "disable": not sys.stderr.isatty(), "leave": False}
    bar = imported("tqdm.auto").tqdm(asked(model, images.images), **shown)
    logits = torch.stack([of_one for _, of_one in bar])  # (n, K)
    found = Predictions(logits, images.labels, None, known.classes)
    if options.csv:
        found.write_csv(options.csv, images.images)
    print(f"{folder}: {as_table(found)}")
    if others := left_out(folder, images):
        print(f"Left out of {folder}: {others}")


def as_table(found: Predictions) -> str:
    """Return the accuracy, and a row for each class with the answers that it got."""
    binomtest = imported("scipy.stats").binomtest
    counts, shares = found.confusion_matrix(), found.accuracy_by_class()
    right, count = int(counts.trace()), int(counts.sum())
    # Wilson's interval holds for few images, and for accuracies close to 1, too
    low, high = binomtest(right, count).proportion_ci(method="wilson")
    names = found.classes if len(found.classes) <= COLUMNS else ()
    rows = [["class", "images", "top-1", *names]]
    for name, row in zip(found.classes, counts.tolist(), strict=True):
        share = f"{shares[name]:.1%}" if name in shares else ""
        rows.append([name, f"{sum(row):,}", share, *map(str, row)])
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=False)]
    lines = [
        f"top-1 {right / count:.2%}, {right:,} of {count:,} images right "
        f"(95% confidence: {low:.1%} to {high:.1%})",
        "answers".rjust(sum(widths[:3]) + 9) if names else "",
        *("".join(map(str.rjust, row, widths)) for row in rows),
    ]
    return "\n".join(lines)
