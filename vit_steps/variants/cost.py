"""The cost of a variant: what each change adds to the paper's model, or saves."""

from dataclasses import replace
from typing import TYPE_CHECKING

from vit_steps.cost import ModelCost, Step

if TYPE_CHECKING:
    from vit_steps.variants.modern_vit import VariantConfig


def variant_cost(config: "VariantConfig", paper: ModelCost) -> ModelCost:
    """Return the cost of a variant, made from that of the paper's model of its size."""
    steps = {step.name: step for step in paper.steps}
    T, D = steps["norm"].shape
    M, d = steps["mlp.fc1"].shape[1], config.head_dim
    norm = 1 if config.norm == "rms" else 2  # parameters for each number of a norm
    gates = 1 if config.mlp == "swiglu" else 0  # additional layers in the MLP
    bias = 1 if config.proj_bias else 0
    inner_norm = norm * M if config.mlp_norm else 0
    positions = T - config.num_registers if config.positions == "learned" else 0

    def change(name: str, parameters: int, macs: int = 0) -> None:
        parameters += steps[name].parameters
        macs += steps[name].macs
        steps[name] = replace(steps[name], parameters=parameters, macs=macs)

    change("pos_embed", (positions - T) * D)
    for name in ("norm1", "norm2", "norm"):
        change(name, (norm - 2) * D)
    change("attn.qkv", 2 * norm * d if config.qk_norm else 0)
    change("attn.proj", (bias - 1) * D)
    gate = gates * D * M
    change("mlp.fc1", gate + ((1 + gates) * bias - 1) * M, T * gate)
    change("mlp.fc2", (bias - 1) * D + inner_norm)

    pooled = Step(f"{config.pooling} out", (D,))
    if config.pooling == "attention":
        # Keys, values and two products are computed for all tokens, the rest for one.
        layers = (2 + gates) * D * M
        biases = ((1 + gates) * M + D) * bias
        parameters = D + 4 * (D * D + D) + norm * D + layers + biases + inner_norm
        macs = 2 * T * D * D + 2 * T * D + 2 * D * D + layers
        pooled = Step("attn_pool", (D,), parameters, macs)
    norm_pre = Step("norm_pre", (T, D), norm * D)
    angles = Step("rope: angles", (T, d // 2))
    fc_norm = replace(steps["norm"], name="fc_norm", shape=(D,))
    # The steps that may replace each of these, and whether the variant has them.
    instead = {
        "pos_embed": [
            (steps["pos_embed"], config.positions != "none"),
            (norm_pre, config.norm_pre),
            (angles, config.rope is not None),
        ],
        "norm": [(steps["norm"], not config.fc_norm)],
        "class token out": [(pooled, True), (fc_norm, config.fc_norm)],
    }
    changed = [
        step
        for name in steps
        for step, there in instead.get(name, [(steps[name], True)])
        if there
    ]
    return replace(paper, steps=tuple(changed))
