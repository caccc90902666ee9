"""Real images: the sets that models are trained on."""

from vit_steps.optional import check_installed

check_installed("PIL", "skimage", "sklearn", "torchvision")

from .augmentation import augmentation as augmentation
from .loading import load as load
from .published import CIFAR10_CLASSES as CIFAR10_CLASSES
from .published import FASHION_CLASSES as FASHION_CLASSES
from .published import digits as digits
from .published import fashion_mnist as fashion_mnist
from .sets import IMAGENET_MEAN as IMAGENET_MEAN
from .sets import IMAGENET_STD as IMAGENET_STD
from .sets import normalize as normalize
