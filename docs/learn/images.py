"""Images.

Your own images, a convolutional network and a Gaussian-process prior, in five lines.
"""

# ## Digits
#
# scikit-learn comes with 1,797 handwritten digits of 8 x 8 pixels. We train on eight of the ten;
# the zeros and ones are the images of a kind that the classifier has never seen.

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
# Images are an array `(image, height, width)`, or with channels `(image, height, width, channel)`.
# `network="cnn"` is the convolutional network of the paper with as many outputs as there are
# labels; any Equinox, Flax or Haiku network that takes such arrays works, too.

from gfsvi import GFSVIClassifier

classifier = GFSVIClassifier(network="cnn", random_state=0).fit(X_train, y_train)
share = classifier.score(X_test, y_test)
print(f"{100 * share:.0f} % of {len(X_test)} new digits are read correctly")

# Pixels are standardised together, the prior has one length scale for all of them, and training
# uses batches of 100 images. `settings_` has what was chosen.

chosen = classifier.settings_
print(f"{chosen.num_mean_steps} steps for the mean, {chosen.num_steps} for the covariance")

# ## Certain and uncertain
#
# The entropy of the predicted label, in nats, is near 0 where the classifier is certain. Zeros and
# ones must be given one of the eight labels; the entropy says how little that means.

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

# The top row shows the six least certain of the known digits, the bottom row the six least certain
# strangers, each with the label that it would be given.
#
# ## More images
#
# The same call handles 60,000 images of 28 x 28 pixels; a training step takes three to four times
# as long as for a plain network. If you have images of another kind, use them as measurement
# points: `points=Rows(other_images)` of `gfsvi.methods.GFSVI` tells the classifier where to be
# uncertain. The [experiments](../do/experiments.md) `images` and `images_quick` do so with
# Kuzushiji characters.
