"""Images.

Images of your own, a convolutional network and a Gaussian process as its prior: five lines.
"""

# ## Digits
#
# 1,797 handwritten digits of 8 x 8 pixels come with scikit-learn. Eight of the ten are learned
# here; the zeros and ones play images of a kind that the classifier has never seen.

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

images, digit = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8)
strangers = images[digit < 2]
X_train, X_test, y_train, y_test = train_test_split(
    images[digit >= 2], digit[digit >= 2], test_size=1 / 3, random_state=0
)

# ## Fit
#
# An array `(image, height, width)`, or with channels `(image, height, width, channel)`, and
# `network="cnn"`, the convolutional network of the paper with as many outputs as there are labels.
# Any network of Equinox, Flax or Haiku that takes such arrays can stand there instead.

from gfsvi import GFSVIClassifier

classifier = GFSVIClassifier(network="cnn", random_state=0).fit(X_train, y_train)
share = classifier.score(X_test, y_test)
print(f"{100 * share:.0f} % of {len(X_test)} new digits are read correctly")

# Pixels are standardised together, the prior has one length scale for all of them, and training
# goes through the images in batches of 100. What was chosen is in `settings_`.

chosen = classifier.settings_
print(f"{chosen.num_mean_steps} steps for the mean, {chosen.num_steps} for the covariance")

# ## Sure and unsure
#
# The entropy of the predicted label, in nats, is near 0 where the classifier is sure. Images of
# strange digits must be given one of the eight labels; the entropy says what that is worth.

known = classifier.predict_distribution(X_test)
unknown = classifier.predict_distribution(strangers)
print(f"mean entropy of new digits: {np.mean(known.entropy):.2f}")
print(f"mean entropy of zeros and ones: {np.mean(unknown.entropy):.2f}")

from sklearn.metrics import roc_auc_score

is_stranger = np.repeat([False, True], [len(X_test), len(strangers)])
entropy = np.concatenate([known.entropy, unknown.entropy])
print(f"area under the curve by entropy: {roc_auc_score(is_stranger, entropy):.2f}")

import matplotlib.pyplot as plt

figure, panels = plt.subplots(2, 6, figsize=(7, 3), layout="constrained")
for row, (those, predictive) in enumerate(((X_test, known), (strangers, unknown))):
    for panel, number in zip(panels[row], np.argsort(predictive.entropy)[-6:], strict=True):
        panel.imshow(those[number], cmap="gray_r")
        panel.set_axis_off()
        label = classifier.classes_[predictive.predicted[number]]
        panel.set_title(f"{label}? {predictive.entropy[number]:.1f} nats", fontsize=8)
figure.savefig("unsure.png", dpi=110)

# Above the six least sure of the digits that were learned, below the six least sure strangers, each
# with the label that it would be given.
#
# ## More images
#
# The same call takes 60,000 images of 28 x 28 pixels; a step of training costs three to four times
# one of a plain network. Where images of another kind are at hand, compare posterior and prior
# there: `points=Rows(other_images)` of `gfsvi.methods.GFSVI` tells the classifier where it must not
# be sure. The [experiments](../do/experiments.md) `images` and `images_quick` do so with Kuzushiji
# characters.
