import math

import pytest
import torch

from vit_steps import optional
from vit_steps.variants.rotary import apply_rope, rope_angles

optional.timm()
from timm.layers import create_rope_embed  # noqa: E402
from timm.layers.pos_embed_sincos import apply_rot_embed_cat  # noqa: E402

GRID, N, d = (3, 5), 15, 16


@pytest.mark.parametrize("base", [100.0, 10000.0])
@pytest.mark.parametrize("grid", [(3, 5), (14, 14)])
def test_normalised_angles_are_timms_for_dinov3(grid, base):
    theirs = create_rope_embed(
        "dinov3", dim=2 * d, num_heads=2, temperature=base, rotate_half=True
    )
    sin, cos = theirs.get_embed(grid).chunk(2, dim=-1)  # (N, d) each
    angles = rope_angles(grid, d, base).repeat(1, 2)
    torch.testing.assert_close(angles.sin(), sin, rtol=0, atol=1e-5)
    torch.testing.assert_close(angles.cos(), cos, rtol=0, atol=1e-5)
    x = torch.randn(2, 3, math.prod(grid), d)
    expected = apply_rot_embed_cat(x, theirs.get_embed(grid), half=True)
    ours = apply_rope(x, rope_angles(grid, d, base))
    torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reference", [None, (4, 4)])
@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_neighbouring_pairs_are_halves_in_another_order(indexing, reference):
    """EVA's pairs are ours once the rows of the weights of q and k are reordered."""
    theirs = create_rope_embed(
        "cat",
        dim=2 * d,
        num_heads=2,
        temperature=100.0,
        in_pixels=False,
        ref_feat_shape=reference,
        grid_indexing=indexing,
    )
    places = torch.arange(d).reshape(d // 2, 2)  # one row for each of their pairs
    if indexing == "xy":  # columns come first in RoPE-ViT
        places = places.roll(d // 4, dims=0)
    places = places.T.flatten()  # all first numbers of pairs, then all second ones
    angles = rope_angles(GRID, d, 100.0, "indexed", reference)
    q, k = torch.randn(2, 1, N, d)
    embed = theirs.get_embed(GRID)
    their_q, their_k = (apply_rot_embed_cat(x, embed) for x in (q, k))
    our_q, our_k = (apply_rope(x[..., places], angles) for x in (q, k))
    torch.testing.assert_close(our_q, their_q[..., places], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(our_q @ our_k.mT, their_q @ their_k.mT)


def test_a_score_depends_on_the_difference_of_places_alone():
    angles = rope_angles((6, 7), d, coordinates="indexed").reshape(6, 7, d // 2)
    q, k = torch.randn(2, 1, d)

    def score(query_place, key_place):
        turned = apply_rope(q, angles[query_place][None])
        return turned @ apply_rope(k, angles[key_place][None]).T

    torch.testing.assert_close(score((1, 2), (3, 5)), score((3, 1), (5, 4)))
    assert (score((1, 2), (3, 5)) - score((1, 2), (5, 3))).abs() > 1e-2


def test_a_turn_keeps_lengths_and_dtype_and_no_angle_changes_nothing():
    x = torch.randn(2, 4, N, d)
    turned = apply_rope(x, rope_angles(GRID, d))
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(apply_rope(x, torch.zeros(N, d // 2)), x, rtol=0, atol=0)
    assert apply_rope(x.bfloat16(), rope_angles(GRID, d)).dtype == torch.bfloat16
    assert apply_rope(x.double(), rope_angles(GRID, d)).dtype == torch.float64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(head_dim=6), "head_dim: got 6, expected a positive multiple of 4"),
        (dict(head_dim=0), "head_dim: got 0"),
        (dict(head_dim=8, coordinates="xy"), "coordinates: got 'xy', expected one of"),
        (dict(head_dim=8, coordinates="indexed", reference=0), "reference: got 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        rope_angles(GRID, **arguments)
