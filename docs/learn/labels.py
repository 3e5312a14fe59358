"""Labels, and rows that belong to none of them.

A classifier must choose among the labels that it knows. This one also says when a row is of a
kind that it has never seen.
"""

# ## Wines of three growers, two of them known
#
# Thirteen chemical measurements of 178 wines from three growers; the table comes with
# scikit-learn. We learn growers 0 and 1 from two thirds of their wines. Grower 2 plays the
# stranger: the classifier does not know that he exists.

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

X, y = load_wine(return_X_y=True)
known, stranger = X[y < 2], X[y == 2]
X_train, X_test, y_train, y_test = train_test_split(known, y[y < 2], test_size=1 / 3, random_state=0)

# ## Fit
#
# Labels may be numbers or text.

from gfsvi import GFSVIClassifier

growers = np.array(["Anna", "Bruno"])
classifier = GFSVIClassifier(random_state=0).fit(X_train, growers[y_train])
accuracy = classifier.score(X_test, growers[y_test])
print(f"{100 * accuracy:.0f} % of {len(X_test)} new wines are given the right grower")

# ## Probabilities
#
# `predict_proba` averages over everything the posterior holds possible. `predict_distribution`
# takes it apart: *entropy* is the whole uncertainty about the label, *mutual information* the part
# of it that comes from not knowing the function, which more rows would remove.

probabilities = classifier.predict_proba(X_test)
predictive = classifier.predict_distribution(X_test)
order = np.argsort(predictive.entropy)[[0, -2, -1]]
for row in order:
    print(
        f"Anna {probabilities[row, 0]:.2f}, Bruno {probabilities[row, 1]:.2f}, "
        f"entropy {predictive.entropy[row]:.2f}, "
        f"mutual information {predictive.mutual_information[row]:.2f}, "
        f"truth {growers[y_test[row]]}"
    )

# ## The stranger
#
# Asked about the third grower's wines the classifier must say Anna or Bruno. That it should not be
# believed shows in `novelty`: near 0 for wines like those it learned from, near 1 for wines like
# none of them.

of_known, of_stranger = classifier.novelty(X_test), classifier.novelty(stranger)
print(f"novelty of new wines of Anna and Bruno: {np.median(of_known):.2f}")
print(f"novelty of the stranger's wines: {np.median(of_stranger):.2f}")

# How well do they separate? Give each wine a score; the area under the curve is the probability
# that a wine of the stranger has a higher score than one of the known growers.

from sklearn.metrics import roc_auc_score

is_stranger = np.repeat([0, 1], [len(of_known), len(of_stranger)])
entropy = classifier.predict_distribution(np.concatenate([X_test, stranger])).entropy
novelty = np.concatenate([of_known, of_stranger])
print(f"area under the curve by entropy: {roc_auc_score(is_stranger, entropy):.2f}")
print(f"area under the curve by novelty: {roc_auc_score(is_stranger, novelty):.2f}")

# Entropy is high between two known growers as well; novelty is not. A rule for practice: act on
# the label where both are small, ask for a second opinion where entropy is high, and for a new
# label where novelty is.

import matplotlib.pyplot as plt

figure, panel = plt.subplots(figsize=(6, 4), layout="constrained")
for name, which, colour in (("Anna and Bruno", 0, "#0072b2"), ("stranger", 1, "#d55e00")):
    rows = is_stranger == which
    panel.scatter(novelty[rows], entropy[rows], s=14, color=colour, alpha=0.7, label=name)
panel.set(xlabel="novelty", ylabel="entropy of the label")
panel.legend()
figure.savefig("wines.png", dpi=110)
