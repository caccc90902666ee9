import torch
from torch import nn

from tests.checks.answers import right, wrong


@right("logits_agree")
def agree_with_all(got, expected, atol):
    return got.shape == expected.shape and bool(((got - expected).abs() <= atol).all())


@right("logits_agree")
def agree_with_allclose(got, expected, atol):
    if got.size() != expected.size():
        return False
    return torch.allclose(got, expected, rtol=0, atol=atol)


@right("logits_agree")
def agree_with_assert_close(got, expected, atol):
    try:
        torch.testing.assert_close(got, expected, rtol=0, atol=atol)
    except AssertionError:
        return False
    return True


@right("logits_agree")
def agree_with_not(got, expected, atol):
    if got.shape != expected.shape:
        return False
    return not (got - expected).abs().max().item() > atol and not got.isnan().any()


@wrong("logits_agree", "numbers counted")
def agree_when_flat(got, expected, atol):
    return (
        got.numel() == expected.numel()
        and ((got.flatten() - expected.flatten()).abs() <= atol).all()
    )


@wrong("logits_agree", "smaller than atol")
def agree_below_atol(got, expected, atol):
    return got.shape == expected.shape and ((got - expected).abs() < atol).all().item()


@wrong("logits_agree", "smaller than atol")
def agree_if_the_largest_is_below(got, expected, atol):
    if got.shape != expected.shape or got.isnan().any() or expected.isnan().any():
        return False
    return (got - expected).abs().max() < atol


@wrong("logits_agree", "value")
def agree_number_by_number(got, expected, atol):
    return torch.isclose(got, expected, rtol=0, atol=atol)


@right("logits_agree")
def agree_in_loops(got, expected, atol):
    if tuple(got.shape) != tuple(expected.shape):
        return False
    for row, other in zip(got.tolist(), expected.tolist(), strict=True):
        for one, two in zip(row, other, strict=True):
            if not abs(one - two) <= atol:
                return False
    return True


@right("logits_agree")
def agree_in_numpy(got, expected, atol):
    got, expected = got.numpy(), expected.numpy()
    return got.shape == expected.shape and (abs(got - expected) <= atol).all()


@wrong("logits_agree", "as it was")
def agree_as_a_colleague_wrote(got, expected, atol):
    difference = got - expected
    if difference.max() > atol:
        return False
    return True


@wrong("logits_agree", "sign")
def agree_without_abs(got, expected, atol):
    return got.shape == expected.shape and (got - expected).max() < atol


@wrong("logits_agree", "NaN passes")
def agree_unless_large(got, expected, atol):
    if got.shape != expected.shape or (got - expected).abs().max() > atol:
        return False
    return True


@wrong("logits_agree", "NaN and shapes")
def agree_with_abs_added(got, expected, atol):
    return not (got - expected).abs().max() > atol


@wrong("logits_agree", "broadcast")
def agree_in_any_shape(got, expected, atol):
    return torch.allclose(got, expected, rtol=0, atol=atol)


@wrong("logits_agree", "mean")
def agree_on_average(got, expected, atol):
    return got.shape == expected.shape and nn.L1Loss()(got, expected).item() <= atol


@wrong("logits_agree", "relative")
def agree_with_default_rtol(got, expected, atol):
    try:
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=atol)
        return True
    except AssertionError:
        return False


@wrong("logits_agree", "answers alone")
def agree_in_their_answers(got, expected, atol):
    return torch.equal(got.argmax(dim=1), expected.argmax(dim=1))


@wrong("logits_agree", "to the bit")
def agree_exactly(got, expected, atol):
    return torch.equal(got, expected)


@wrong("logits_agree", "value")
def agree_with_a_number(got, expected, atol):
    return (got - expected).abs().max().item()


@wrong("logits_agree", "two NaN agree")
def agree_with_equal_nan(got, expected, atol):
    if got.shape != expected.shape:
        return False
    close = torch.isclose(got, expected, rtol=0, atol=atol, equal_nan=True)
    return close.all().item()


@wrong("logits_agree", "NaN passes")
def agree_with_nan_as_zero(got, expected, atol):
    if got.shape != expected.shape:
        return False
    return bool((got - expected).abs().nan_to_num().amax() <= atol)
