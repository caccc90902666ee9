import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from tests.conftest import draw_at_random
from vit_steps import MultiHeadAttention, optional, scaled_dot_product_attention
from vit_steps.attention import use_fused_attention

both_dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def queries_keys_values(dtype=torch.float32, queries=5, keys=7, d=4, d_v=3):
    shapes = [(2, 3, queries, d), (2, 3, keys, d), (2, 3, keys, d_v)]
    return [torch.randn(s, dtype=dtype, requires_grad=True) for s in shapes]


def assert_same_with_gradients(ours, theirs, inputs):
    torch.testing.assert_close(ours, theirs)
    goal = torch.randn_like(ours)
    torch.testing.assert_close(
        torch.autograd.grad((ours * goal).sum(), inputs, retain_graph=True),
        torch.autograd.grad((theirs * goal).sum(), inputs, retain_graph=True),
    )


@both_dtypes
def test_equal_to_pytorchs(dtype):
    q, k, v = queries_keys_values(dtype)
    ours, _ = scaled_dot_product_attention(q, k, v)
    theirs = F.scaled_dot_product_attention(q, k, v)
    assert_same_with_gradients(ours, theirs, (q, k, v))


@both_dtypes
def test_equal_to_pytorchs_with_a_mask(dtype):
    q, k, v = queries_keys_values(dtype)
    mask = torch.rand(2, 1, 5, 7) < 0.6
    mask[..., 0] = True
    ours, weights = scaled_dot_product_attention(q, k, v, mask)
    theirs = F.scaled_dot_product_attention(q, k, v, mask)
    assert_same_with_gradients(ours, theirs, (q, k, v))
    assert not weights[~mask.expand_as(weights)].any()


def test_equal_to_d2ls_with_padding():
    q, k, v = (t.detach()[:, 0] for t in queries_keys_values())
    valid_lens = torch.tensor([3, 6])
    theirs = optional.d2l().DotProductAttention(dropout=0.0)
    expected = theirs(q, k, v, valid_lens)
    mask = (torch.arange(7) < valid_lens[:, None])[:, None]  # (B, 1, T_k)
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, theirs.attention_weights)


@given(
    queries=st.integers(1, 6),
    keys=st.integers(1, 6),
    d=st.integers(1, 5),
    scale=st.sampled_from([0.1, 1.0, 30.0]),
)
def test_weights_are_a_mixture_over_keys(queries, keys, d, scale):
    q, k, v = queries_keys_values(queries=queries, keys=keys, d=d)
    output, weights = scaled_dot_product_attention(scale * q, k, v)
    assert weights.shape == (2, 3, queries, keys) and (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, queries))
    torch.testing.assert_close(output, weights @ v)
    low, high = v.amin(-2, keepdim=True), v.amax(-2, keepdim=True)
    assert (output >= low - 1e-5).all() and (output <= high + 1e-5).all()


@given(st.permutations(range(7)))
def test_order_of_the_keys_does_not_matter(order):
    q, k, v = queries_keys_values()
    output, weights = scaled_dot_product_attention(q, k, v)
    other, moved = scaled_dot_product_attention(q, k[..., order, :], v[..., order, :])
    torch.testing.assert_close(other, output)
    torch.testing.assert_close(moved, weights[..., order])


@both_dtypes
def test_a_row_masked_whole_gives_zeros_and_no_nan_in_gradients(dtype):
    q, k, v = queries_keys_values(dtype)
    mask = torch.ones(5, 7, dtype=torch.bool)
    mask[2] = False
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    assert not output[:, :, 2].any() and not weights[:, :, 2].any()
    assert output[:, :, 1].any()
    gradients = torch.autograd.grad(output.square().sum(), (q, k, v))
    assert all(g.isfinite().all() for g in gradients)
    assert not gradients[0][:, :, 2].any()


def test_weights_are_those_before_dropout():
    q, k, v = queries_keys_values()
    output, weights = scaled_dot_product_attention(q, k, v)
    dropped, same = scaled_dot_product_attention(q, k, v, dropout_p=0.5)
    assert torch.equal(weights, same)
    assert not torch.allclose(output, dropped)
    nothing, _ = scaled_dot_product_attention(q, k, v, dropout_p=1.0)
    assert not nothing.any()


def test_dropout_keeps_the_mean():
    q, k, v = (t.detach() for t in queries_keys_values())
    output, _ = scaled_dot_product_attention(q, k, v)
    repeated = [t.expand(2000, *t.shape) for t in (q, k, v)]
    draws, _ = scaled_dot_product_attention(*repeated, dropout_p=0.3)
    standard_error = draws.std(0) / 2000**0.5
    assert ((draws.mean(0) - output).abs() < 5 * standard_error).all()


def test_attention_refuses():
    q, k, v = queries_keys_values()
    with pytest.raises(ValueError, match="k: got 3 numbers a key"):
        scaled_dot_product_attention(q, k[..., :3], v)
    with pytest.raises(ValueError, match="v: got 6 values, expected one"):
        scaled_dot_product_attention(q, k, v[..., :6, :])
    with pytest.raises(ValueError, match="mask: got torch.float32"):
        scaled_dot_product_attention(q, k, v, torch.zeros(5, 7))


def heads(dtype=torch.float32, **arguments):
    module = draw_at_random(MultiHeadAttention(12, 3, **arguments), std=0.5).to(dtype)
    x = torch.randn(2, 5, 12, dtype=dtype, requires_grad=True)
    return module, x


@both_dtypes
def test_fused_is_explicit(dtype):
    module, x = heads(dtype)
    fused, none = module(x)
    explicit, weights = module(x, need_weights=True)
    assert none is None and weights.shape == (2, 3, 5, 5)
    assert_same_with_gradients(fused, explicit, (x, *module.parameters()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("fused", "calls"), [(True, 1), (False, 0)])
def test_which_path_is_taken(monkeypatch, dtype, fused, calls):
    module = nn.Sequential(draw_at_random(MultiHeadAttention(12, 3)).to(dtype))
    use_fused_attention(module, fused)
    kernel = F.scaled_dot_product_attention
    taken = []

    def counted(q, k, v, dropout_p):
        taken.append(q.shape)
        return kernel(q, k, v, dropout_p=dropout_p)

    monkeypatch.setattr(F, "scaled_dot_product_attention", counted)
    output, weights = module(torch.randn(1, 9, 12, dtype=dtype))
    assert len(taken) == calls and weights is None and output.dtype == dtype


@both_dtypes
def test_heads_equal_pytorchs(dtype):
    module, x = heads(dtype)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True, dtype=dtype)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(module.qkv.weight)
        theirs.in_proj_bias.copy_(module.qkv.bias)
        theirs.out_proj.load_state_dict(module.proj.state_dict())
    output, weights = module(x, need_weights=True)
    expected, each_head = theirs(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(weights, each_head)
    assert_same_with_gradients(output, expected, x)

    goal = torch.randn_like(output)
    (ours,) = torch.autograd.grad((output * goal).sum(), module.qkv.weight)
    (other,) = torch.autograd.grad((expected * goal).sum(), theirs.in_proj_weight)
    torch.testing.assert_close(ours, other)


@pytest.mark.parametrize("qkv_bias", [True, False])
def test_heads_equal_d2ls(qkv_bias):
    module, x = heads(qkv_bias=qkv_bias)
    theirs = optional.d2l().MultiHeadAttention(12, 3, dropout=0.0, bias=True)
    theirs(x, x, x, None)  # d2l's layers get their sizes from the first input
    layers = (theirs.W_q, theirs.W_k, theirs.W_v)
    bias = module.qkv.bias if qkv_bias else torch.zeros(36)
    with torch.no_grad():
        for i, layer in enumerate(layers):
            layer.weight.copy_(module.qkv.weight[12 * i : 12 * (i + 1)])
            layer.bias.copy_(bias[12 * i : 12 * (i + 1)])
        theirs.W_o.load_state_dict(module.proj.state_dict())
    output, weights = module(x, need_weights=True)
    torch.testing.assert_close(output, theirs(x, x, x, None))
    each_head = theirs.attention.attention_weights.reshape(2, 3, 5, 5)
    torch.testing.assert_close(weights, each_head)


def test_heads_equal_timms():
    module, x = heads()
    attention = optional.timm().models.vision_transformer.Attention
    theirs = attention(12, num_heads=3, qkv_bias=True)
    theirs.load_state_dict(module.state_dict())
    torch.testing.assert_close(module(x)[0], theirs(x))


@given(order=st.permutations(range(5)))
def test_heads_are_permutation_equivariant(order):
    module, x = heads()
    torch.testing.assert_close(module(x[:, order])[0], module(x)[0][:, order])


def test_an_image_does_not_depend_on_its_batch():
    module, x = heads()
    alone = torch.cat([module(x[i : i + 1])[0] for i in range(2)])
    torch.testing.assert_close(module(x)[0], alone)


def test_parameters_do_not_depend_on_the_number_of_heads():
    counts = {
        sum(p.numel() for p in MultiHeadAttention(24, h).parameters())
        for h in (1, 2, 4, 8)
    }
    assert counts == {4 * 24 * 24 + 4 * 24}


def test_initialisation_is_xavier_for_each_matrix():
    module = MultiHeadAttention(256, 4)
    bound = (6 / 512) ** 0.5
    for weight in (*module.qkv.weight.chunk(3), module.proj.weight):
        assert weight.abs().max() <= bound
        assert abs(weight.std().item() / (bound / 3**0.5) - 1) < 0.02
    assert not module.qkv.bias.any() and not module.proj.bias.any()


def test_dropout_is_off_in_evaluation_and_on_in_training():
    module, x = heads(attn_drop_rate=0.5)
    module.eval()
    plain, _ = heads()
    torch.testing.assert_close(module(x)[0], plain(x)[0])
    module.train()
    assert not torch.allclose(module(x)[0], plain(x)[0])
    assert not torch.allclose(module(x, need_weights=True)[0], plain(x)[0])
    output, _ = MultiHeadAttention(600, 3, drop_rate=0.5)(torch.randn(1, 5, 600))
    assert 0.4 < (output == 0).float().mean() < 0.6


@pytest.mark.parametrize("num_heads", [5, 0, -3, 24])
def test_heads_that_do_not_divide_are_refused(num_heads):
    with pytest.raises(ValueError, match=f"num_heads: got {num_heads}, expected a "):
        MultiHeadAttention(12, num_heads)


@pytest.mark.parametrize("shape", [(5, 12), (2, 5, 11), (2, 3, 5, 12)])
def test_heads_refuse(shape):
    with pytest.raises(ValueError, match=r"x: got shape .* expected \(B, T, 12\)"):
        MultiHeadAttention(12, 3)(torch.randn(shape))
