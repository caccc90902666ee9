"""Published weights for the model of this book, and its weights for other libraries."""

from vit_steps.pretrained.comparing import Difference as Difference
from vit_steps.pretrained.comparing import first_difference as first_difference
from vit_steps.pretrained.comparing import named_outputs as named_outputs
from vit_steps.pretrained.features import extract_features as extract_features
from vit_steps.pretrained.hub import copy_into as copy_into
from vit_steps.pretrained.hub import copy_of as copy_of
from vit_steps.pretrained.loading import WeightsMismatch as WeightsMismatch
from vit_steps.pretrained.loading import config_of as config_of
from vit_steps.pretrained.loading import load_weights as load_weights
from vit_steps.pretrained.loading import model_of as model_of
from vit_steps.pretrained.names import StateDict as StateDict
from vit_steps.pretrained.names import in_halves as in_halves
from vit_steps.pretrained.names import in_our_names as in_our_names
from vit_steps.pretrained.names import without as without
