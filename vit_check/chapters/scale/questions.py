from vit_steps.training_cost import ACCELERATORS, training_memory, training_seconds
from vit_steps.vision_transformer import ViTConfig

CARD = 16e9  # bytes


def fitting(whole: float = CARD, copy: bool = True, **how: bool) -> float:
    """Return how many images fit, with weights in bfloat16 beside them if ``copy``."""
    image = training_memory(ViTConfig.base(), 1, **how).activations
    held = training_memory(ViTConfig.base(), 1, autocast=copy)
    return (whole - (held.total - held.activations)) / image


def days() -> float:
    images = 90 * 1.28e6
    return training_seconds(ViTConfig.base(), images, ACCELERATORS["A100"]) / 86_400


def sent(trips: int, num_processes: int = 8) -> float:
    """Return the bytes that a process sends in a step of ViT-B/16, in float32."""
    vector = 4 * ViTConfig.base().cost().parameters
    return trips * vector * (num_processes - 1) / num_processes


QUESTIONS = """
ranks_in_the_sum: the ranks whose pieces are in the sum, as a tuple in ascending order
  = (0, 1, 4)
  (1, 2, 3): the pieces come from the ranks before rank 1, not after
  (0, 1): that is after the first turn; one more has been added
  (0, 4): what arrives is added to rank 1's own piece
  (0, 1, 3, 4): that is after the third turn
  (0, 1, 2): rank 2 is after rank 1 and has sent it nothing
  (0, 1, 2, 3, 4): that would take the whole trip, four turns
  (4, 0, 1): these are the right ones; put them in ascending order
  ? From whom does rank 1 receive, and from whom did that one receive?
  ? In each turn one more process adds its piece to the sum.
  ? Rank 1 itself and the two before it in the ring.
bytes_sent_with_ddp: the bytes that each of eight GPUs sends in one step with DDP
  = sent(2)
  sent(1): that is one trip; an all-reduce is two
  sent(2) / 4: those are numbers; a float32 has four bytes
  sent(2) / 7 * 8: in each trip a process sends seven of its eight pieces, not all eight
  sent(1) / 7 * 8: that is the vector itself, which goes round twice
  sent(2) * 8: that is what all eight send together
  sent(2) / 7: that is one piece in each trip; n - 1 pieces are sent
  ? How many bytes is the gradient? How many pieces of it are sent in a trip?
  ? Two trips, and in each of them seven of eight pieces are sent.
  ? 2 * 7 / 8 * 4 * parameters.
bytes_sent_with_fsdp: the bytes that each of eight GPUs sends in one step with FSDP
  = sent(3)
  sent(2): that is DDP; count the trips of FSDP once more
  sent(1): that is one trip
  sent(4): a reduce-scatter is one trip, not two
  sent(3) / 4: those are numbers; a float32 has four bytes
  sent(3) / 7 * 8: in each trip a process sends seven of its eight pieces, not all eight
  sent(3) * 8: that is what all eight send together
  ? How many trips are a forward pass, a backward pass and the gradients?
  ? Weights twice, gradients once, and each time seven of eight pieces.
  ? 3 * 7 / 8 * 4 * parameters.
times_sent_with_64: how many times as much each of 64 GPUs sends as each of eight
  = sent(2, 64) / sent(2)
  8.0: the pieces become smaller when there are more of them
  63 / 7: more pieces are sent, but each of them is smaller
  1.0: nearly, but in each trip one piece of the vector is not sent, and that piece is
    smaller with 64 processes
  7 / 8 / (63 / 64): the other way round
  63 / 64: that is one trip with 64; compare it with one of eight
  ? What part of the vector does a process send in one trip?
  ? (n - 1)/n, for n = 8 and for n = 64.
  ? (63 / 64) / (7 / 8).
lonely_image: how many times as much the image of rank 2 counts as one of rank 0
  = (1 / 3) / (1 / 3 / 2)
  1.0: that is how it should be; two of the processes have two images
  0.5: the other way round: it has its process to itself
  3.0: there are three processes, but each counts for a third
  ? Each process counts for a third. Among how many images is that third divided?
  ? Rank 0 has images 0 and 3, rank 1 images 1 and 4, rank 2 image 2.
  ? A third, divided by half a third.
images_that_fit: the largest whole number of images whose training fits into 16e9 bytes
  = int(fitting())
  int(CARD // training_memory(ViTConfig.base(), 1).activations): weights, gradients and
    averages are there before the first image
  int(fitting()) + 1: one too many: the last one fits only in part, so round down
  int(fitting(16 * 2**30)): either 16 GiB is taken for 16e9 bytes, or the weights
    alone are taken off, without gradients and averages
  int(fitting(0.9 * CARD)): the chapter leaves a tenth of the memory to libraries;
    here you are to use all of it
  fitting(): a part of an image does not help: round down
  int(fitting(copy=False)): under autocast there are bfloat16 weights as well
  int(fitting(checkpointing=True)): that is with checkpointing
  ? What is left of the 16e9 bytes when no image has come yet?
  ? Take away weights (with their bfloat16 copy), gradients and averages, and divide the
    rest by the bytes of one image.
  ? int((16e9 - sum(training_bytes(P, 1, False, True).values())) // image), where image
    is activation_bytes(ViTConfig.base()).
days_of_90_epochs: the days that one A100 takes for 90 epochs of 1.28 million images
  = days()
  rounding 1e-2
  days() / 3: that is the forward pass alone
  days() / 2: two FLOPs are a multiply-accumulate
  days() / 90: that is one epoch
  days() * 0.4: that is at the peak, which no training reaches
  days() * 24: that is in hours
  days() * 86_400: that is in seconds
  days() / 6: one FLOP for each multiply-accumulate, and only the forward pass
  ? How many images are learned from in all?
  ? An image has ViTConfig.base().cost().macs; 90 epochs are 90 times 1.28e6 images.
  ? training_days(ViTConfig.base().cost().macs, 90 * 1.28e6, 312e12, 1, 0.4)
"""
