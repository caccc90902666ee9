import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
sign: .abs() -> nothing
broadcast: got.shape == expected.shape and -> nothing
mean: ((got - expected).abs() <= atol).all() -> (got - expected).abs().mean() <= atol
two NaN agree: ((got - expected).abs() <= atol).all()
  -> torch.allclose(got, expected, rtol=0, atol=atol, equal_nan=True)
relative
  ((got - expected).abs() <= atol).all() -> torch.allclose(got, expected, atol=atol)
value: = lambda got, expected, atol: torch.isclose(got, expected, rtol=0, atol=atol)
value: = lambda got, expected, atol: (got - expected).abs().max().item()
smaller than atol: <= -> <
as it was: got.shape == expected.shape and bool(((got - expected).abs() <= atol).all())
  -> not (got - expected).max() > atol
    by a colleague
NaN passes: (got - expected).abs() -> (got - expected).abs().nan_to_num()
value: = lambda got, expected, atol: True
    "… is True, expected False"
""")
def agree_with_all(got, expected, atol):
    return got.shape == expected.shape and bool(((got - expected).abs() <= atol).all())


def agree_with_allclose(got, expected, atol):
    if got.size() != expected.size():
        return False
    return torch.allclose(got, expected, rtol=0, atol=atol)


def agree_with_assert_close(got, expected, atol):
    try:
        torch.testing.assert_close(got, expected, rtol=0, atol=atol)
    except AssertionError:
        return False
    return True


def agree_in_numpy(got, expected, atol):
    got, expected = got.numpy(), expected.numpy()
    return got.shape == expected.shape and (abs(got - expected) <= atol).all()
