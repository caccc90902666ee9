"""Curves of loss and accuracy while a model is trained."""

import matplotlib.pyplot as plt

from vit_steps.notebook.style import COLOURS
from vit_steps.training_state import History


def live_history(history: History) -> None:
    """Draw the losses and the accuracy so far: a callback for ``train``.

    In a notebook the picture of each epoch replaces the one before.
    """
    from IPython.display import clear_output

    plt.close("all")
    _, (losses, accuracy) = plt.subplots(1, 2, figsize=(6.4, 2.8))
    epochs = range(1, len(history.epochs) + 1)
    losses.plot(epochs, history.train_loss, label="training")
    losses.plot(epochs, history.loss, "--", label="validation")
    losses.set_ylabel("loss, nats")
    losses.legend()
    accuracy.plot(epochs, history.top1, "--", color=COLOURS["orange"])
    accuracy.set_ylabel("validation accuracy")
    accuracy.set_ylim(0, 1)
    for ax in (losses, accuracy):
        ax.set_xlabel("epoch")
        ax.xaxis.get_major_locator().set_params(integer=True)
    clear_output(wait=True)
    plt.show()
