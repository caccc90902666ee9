"""From where on ``examine`` calls something suspicious, and why from there.

A sound model must not be accused, even if it has hardly been trained. So each limit is
far from what sound models show, and no difference counts that may be luck.
"""

SURE = 4.0  # standard errors: twenty tests accuse one sound model in 1,000 by luck
MENDED = 1 / 3  # of the errors; less may be gained by accident, early in a training
AS_WELL = 0.05  # of all images; which of two explanations it is, nobody can tell then
LEAK = 0.03  # of the test images; fewer move the accuracy by less than the luck of 500
TWIN = 0.25  # of the distance to the 5th nearest image; in digits, clothes it is > 0.36
UNEQUAL = 4.0  # images of the commonest class for one of the rarest
BY_HEART = 0.5  # of what is known of training images and does not hold for new ones
ROUNDING = 1e-4  # of the spread between images; float32 rounds to about 1e-6 of it
MOVED = 1e-5  # of a parameter, half of what twenty steps of 1e-6 do
CONSTANT = 0.95  # of the head's inputs; in a sound CNN half of them may be dead
ALIKE = 1e-3  # of a token's length, to its neighbour; sound models have more than 0.1
ONE_HOT = 0.9  # in the mean over tokens, in all heads; sound blocks have a few such
UNIFORM = 1e-3  # spread of weights · T; with new layers' scores it is at least 0.05
CERTAIN = 50.0  # between an image's logits; float32 takes 17 for a probability of 1
FLAT = 0.9  # of a constant answer's loss; a training that moves gets below it
RATE = 0.15  # of a constant answer's loss, that a tenth of the rate is better by

COMPARED = 5000  # images of a part that are compared with each other
SHOWN = 500  # images of a part that the model is asked about; luck moves it by 0.02
CHANGED = 128  # of these, in each of the ways in which they are changed
STEPS = 60  # of a short training, in which the loss of a sound model clearly falls
