from vit_check.engine.functions import checked_by

TABLE = """
parameter_count(image_size, patch_size, in_channels, num_classes, embed_dim, depth,
    hidden_dim) -> int
  30, 6, 4, 7, 12, 3, 12 * whole(5, 9) + 6  # all mistakes differ
  12, 4, 2, 11, 16, 5, 16 * whole(5, 9) + 8
no biases: C * D + D -> C * D
  + 4 * D -> nothing
  D * M + M + M * D + D -> D * M + M * D
  + K -> nothing
    the biases of the linear layers are not counted
no qkv bias: + 4 * D -> + D
    the biases of queries, keys and values are missing
bias of D: D * M + M + M * D + D -> D * M + D + M * D + D
    the bias of the MLP's first layer is counted with D numbers; it has M
bias of M: D * M + M + M * D + D -> D * M + M + M * D + M
    the bias of the MLP's second layer is counted with M numbers; it has D
no head bias: + K -> nothing
    the bias of the head is missing
no class token: + cls_token -> nothing
    D numbers are missing: the class token, its position, or the patch embedding's bias
no positions: + positions -> nothing
    the positions are not counted
one side: (H // P) ** 2 -> H // P
    the patches along one side are counted; an image has rows and columns
no norms: 2 * D -> 0
    the norms are not counted: each has 2·D numbers
one norm: + norm + mlp -> + mlp
    a block has two norms
norms halved: 2 * D -> D
    a norm has a weight and a bias, 2·D numbers
2·D missing: + norm + head -> + head
    2·D numbers are missing: the last norm, or the class token with its position
always 4: mlp = -> M = 4 * D; mlp =
    the MLP is counted with 4·D hidden numbers, whatever M is
? Go through the model from image to logits and write down every matrix, every bias, and
  what is a parameter without being either.
? Patch matrix, class token, positions; in each block two norms, four matrices of D×D
  and two of D×M, all with biases; a norm; the head.
? C·P²·D + D, then D + T·D, then L·(4·D + 4·D² + 4·D + 2·D·M + M + D), then 2·D, then
  D·K + K.
"""


@checked_by(TABLE)
def parameter_count(H: int, P: int, C: int, K: int, D: int, L: int, M: int) -> int:
    N = (H // P) ** 2
    patches = P * P * C * D + D
    positions = (N + 1) * D
    norm = 2 * D
    attention = 4 * D * D + 4 * D
    mlp = D * M + M + M * D + D
    block = norm + attention + norm + mlp
    head = D * K + K
    cls_token = D
    return patches + cls_token + positions + L * block + norm + head
