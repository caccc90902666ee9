"""Published weights for the model of this book, and its weights for other libraries."""

from .comparing import Difference as Difference
from .comparing import first_difference as first_difference
from .comparing import named_outputs as named_outputs
from .features import extract_features as extract_features
from .hub import copy_into as copy_into
from .hub import copy_of as copy_of
from .loading import WeightsMismatch as WeightsMismatch
from .loading import config_of as config_of
from .loading import load_weights as load_weights
from .loading import model_of as model_of
from .names import StateDict as StateDict
from .names import in_halves as in_halves
from .names import in_our_names as in_our_names
from .names import without as without
