"""The limits beyond which ``examine`` calls something suspicious, with reasons.

A sound model must not be accused, even if it has hardly been trained. So each limit is
far from the values of sound models, and a difference that may be luck does not count.
"""

SURE = 4.0  # standard errors; twenty tests then accuse 1 sound model in 1,000 by luck
MENDED = 1 / 3  # of the errors; early in training a smaller share may vanish by luck
AS_WELL = 0.05  # of all images; two explanations this close may both be right
LEAK = 0.03  # of the test images; fewer change accuracy less than luck does with 500
TWIN = 0.25  # of the distance to the 5th nearest; digits and clothes are above 0.36
UNEQUAL = 4.0  # images of the commonest class for one of the rarest
BY_HEART = 0.5  # of the gain over the commonest class, which may be lost on new images
ROUNDING = 1e-4  # of the spread between images; float32 rounds to about 1e-6 of it
MOVED = 1e-5  # of a parameter; twenty steps of 1e-6 move it twice as far
CONSTANT = 0.95  # of the head's inputs; in a sound CNN half of them may be dead
ALIKE = 1e-3  # of a token's length, between neighbours; above 0.1 in sound models
ONE_HOT = 0.9  # mean of the largest weights, in all of a block's heads; a few may pass
UNIFORM = 1e-3  # spread of weights · T; at least 0.05 with the scores of new layers
CERTAIN = 50.0  # between an image's logits; from 17 on, a probability in float32 is 1
FLAT = 0.9  # of a constant answer's loss; a training that works gets below it
RATE = 0.15  # of a constant answer's loss: how much better a tenth of the rate must be

COMPARED = 5000  # images of a part that are compared with each other
SHOWN = 500  # images of a part that the model is given; luck changes accuracy by 0.02
CHANGED = 128  # images of a part that are changed in each way
STEPS = 60  # of a short training, enough for the loss of a sound model to fall clearly
