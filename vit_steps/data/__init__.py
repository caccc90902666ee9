"""Real images: the sets that models are trained on."""

from vit_steps.optional import check_installed

check_installed("PIL", "skimage", "sklearn", "torchvision")

from vit_steps.data.augmentation import augmentation as augmentation
from vit_steps.data.loading import load as load
from vit_steps.data.published import CIFAR10_CLASSES as CIFAR10_CLASSES
from vit_steps.data.published import FASHION_CLASSES as FASHION_CLASSES
from vit_steps.data.published import digits as digits
from vit_steps.data.published import fashion_mnist as fashion_mnist
from vit_steps.data.sets import IMAGENET_MEAN as IMAGENET_MEAN
from vit_steps.data.sets import IMAGENET_STD as IMAGENET_STD
from vit_steps.data.sets import normalize as normalize
