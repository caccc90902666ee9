import vit_steps
from tests.checks.answers import right, wrong


@right("block_macs")
def as_two_named_sums(num_tokens, embed_dim, mlp_ratio=4):
    quadratic, linear = from_the_formulas(num_tokens, embed_dim, mlp_ratio)
    return {"linear": linear, "quadratic": quadratic}


@right("block_macs")
def from_the_formulas(num_tokens, embed_dim, mlp_ratio=4):
    T, D, M = num_tokens, embed_dim, mlp_ratio * embed_dim
    return 2 * T**2 * D, 4 * T * D**2 + 2 * T * D * M


@right("block_macs")
def from_the_package(T, D, r=4):
    cost = vit_steps.attention_cost(T, D)
    return [cost.matmul_macs, cost.projection_macs + 2 * T * D * int(r * D)]


@right("block_macs")
def from_the_whole_model(num_tokens, embed_dim, mlp_ratio=4):
    model = vit_steps.model_cost(
        vit_steps.ViTConfig(
            image_size=(1, num_tokens - 1),
            patch_size=1,
            embed_dim=embed_dim,
            depth=1,
            num_heads=1,
            mlp_ratio=mlp_ratio,
        )
    )
    linear = ("attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2")
    macs = sum(step.macs for step in model.steps if step.name in linear)
    return model.attention_macs, macs


@right("block_macs")
def by_layers(num_tokens, embed_dim, mlp_ratio=4):
    D, linear = embed_dim, 0
    for ins, outs in [(D, 3 * D), (D, D), (D, mlp_ratio * D), (mlp_ratio * D, D)]:
        linear += num_tokens * ins * outs
    return 2 * num_tokens * num_tokens * D, linear


def block(T, D, quadratic=2, per_token=0):
    return quadratic * T * T * D, T * per_token


@wrong("block_macs", "mlp left out")
def attention_alone(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=4 * embed_dim**2)


@wrong("block_macs", "projections left out")
def products_and_mlp(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=2 * embed_dim**2 * mlp_ratio)


@wrong("block_macs", "one layer of the mlp")
def up_and_never_down(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=(4 + mlp_ratio) * embed_dim**2)


@wrong("block_macs", "always four times")
def twelve(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=12 * embed_dim**2)


@wrong("block_macs", "output projection left out")
def three_and_two(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=(3 + 2 * mlp_ratio) * embed_dim**2)


@wrong("block_macs", "one product")
def half_of_attention(num_tokens, embed_dim, mlp_ratio=4):
    D = embed_dim
    return block(num_tokens, D, quadratic=1, per_token=(4 + 2 * mlp_ratio) * D**2)


@wrong("block_macs", "order swapped")
def linear_first(num_tokens, embed_dim, mlp_ratio=4):
    quadratic, linear = from_the_formulas(num_tokens, embed_dim, mlp_ratio)
    return linear, quadratic


@wrong("block_macs", "flops for macs")
def as_a_counter_says(num_tokens, embed_dim, mlp_ratio=4):
    quadratic, linear = from_the_formulas(num_tokens, embed_dim, mlp_ratio)
    return quadratic * 2, linear * 2


@wrong("block_macs", "one sum")
def added_up(num_tokens, embed_dim, mlp_ratio=4):
    return sum(from_the_formulas(num_tokens, embed_dim, mlp_ratio))


@wrong("block_macs", "linear part of one token")
def without_the_tokens(num_tokens, embed_dim, mlp_ratio=4):
    return 2 * num_tokens**2 * embed_dim, (4 + 2 * mlp_ratio) * embed_dim**2


@wrong("block_macs", "mlp quadratic")
def attention_and_the_rest(num_tokens, embed_dim, mlp_ratio=4):
    T, D = num_tokens, embed_dim
    return 2 * T**2 * D + 2 * mlp_ratio * T * D**2, 4 * T * D**2


@wrong("block_macs", "float")
def with_a_float_ratio(num_tokens, embed_dim, mlp_ratio=4.0):
    M = float(mlp_ratio) * embed_dim
    quadratic, _ = from_the_formulas(num_tokens, embed_dim)
    return quadratic, num_tokens * (4 * embed_dim**2 + 2 * embed_dim * M)


@wrong("block_macs", "mlp of one token")
def mlp_without_tokens(num_tokens, embed_dim, mlp_ratio=4):
    T, D, M = num_tokens, embed_dim, mlp_ratio * embed_dim
    return 2 * T * T * D, T * 4 * D**2 + 2 * D * M


@wrong("block_macs", "projections of one token")
def projections_without_tokens(num_tokens, embed_dim, mlp_ratio=4):
    T, D, M = num_tokens, embed_dim, mlp_ratio * embed_dim
    return 2 * T * T * D, 4 * D**2 + T * (D * M + M * D)


@wrong("block_macs", "mlp layers all M by M")
def wide_throughout(num_tokens, embed_dim, mlp_ratio=4):
    T, D, M = num_tokens, embed_dim, mlp_ratio * embed_dim
    return 2 * T * T * D, T * (4 * D * D + 2 * M * M)


@wrong("block_macs", "pairs counted")
def pairs_alone(num_tokens, embed_dim, mlp_ratio=4):
    _, linear = from_the_formulas(num_tokens, embed_dim, mlp_ratio)
    return 2 * num_tokens**2, linear


@wrong("block_macs", "biases counted")
def with_the_parameters_of_each_layer(T, D, ratio=4):
    M = ratio * D
    layers = ((D, 3 * D), (D, D), (D, M), (M, D))
    return 2 * T * T * D, T * sum(ins * outs + outs for ins, outs in layers)


@right("block_macs")
def with_heads_of_one_number(T, D, ratio=4):
    quadratic = sum(T * T + T * T for _ in range(D))
    return [quadratic, 4 * T * D**2 + 2 * ratio * T * D**2]
