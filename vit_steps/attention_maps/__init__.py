"""Maps of what a Vision Transformer attends to, and tests of such maps.

The ``weights`` are the second result of ``encode(images, need_weights=True)``, one
(B, h, T, T) a block. ``num_prefix_tokens`` is the number of tokens in front of the
patches, which every model has under this name. ``grid_size`` counts rows and columns of
patches, ``patch_size`` is in pixels, and an int means a square.
"""

from .inspecting import attention_distance as attention_distance
from .inspecting import patch_filters as patch_filters
from .inspecting import position_similarity as position_similarity
from .inspecting import uniform_distance as uniform_distance
from .maps import attention_rollout as attention_rollout
from .maps import class_token_attention as class_token_attention
from .maps import class_token_to_patches as class_token_to_patches
from .scoring import DeletionCurve as DeletionCurve
from .scoring import deletion_curve as deletion_curve
from .scoring import mask_patches as mask_patches
from .scoring import mass_inside as mass_inside
from .scoring import patch_brightness as patch_brightness
