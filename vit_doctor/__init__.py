"""Quick tests of a model that may be wrong, and an examination in sentences.

A package of its own, which is built on vit_steps. It takes any classifier.
"""

from vit_doctor.examining import examine as examine
from vit_doctor.quick import batch_effect as batch_effect
from vit_doctor.quick import order_effect as order_effect
from vit_doctor.quick import overfit_one_batch as overfit_one_batch
from vit_doctor.quick import repeat_effect as repeat_effect
from vit_doctor.quick import shared_parameters as shared_parameters
from vit_doctor.quick import shuffle_patches as shuffle_patches
from vit_doctor.quick import silent_parameters as silent_parameters
