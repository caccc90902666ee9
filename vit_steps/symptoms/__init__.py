"""Is a model sound? Quick tests, and an examination of model and data in sentences."""

from vit_steps.symptoms.examining import examine as examine
from vit_steps.symptoms.quick import batch_effect as batch_effect
from vit_steps.symptoms.quick import order_effect as order_effect
from vit_steps.symptoms.quick import overfit_one_batch as overfit_one_batch
from vit_steps.symptoms.quick import repeat_effect as repeat_effect
from vit_steps.symptoms.quick import shared_parameters as shared_parameters
from vit_steps.symptoms.quick import shuffle_patches as shuffle_patches
from vit_steps.symptoms.quick import silent_parameters as silent_parameters
