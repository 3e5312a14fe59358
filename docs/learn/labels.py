"""Labels, and rows that belong to none of them.

A classifier must choose among the labels that it knows. This one also reports when a row is unlike
any it was trained on.
"""

# ## Three species of iris, two of them known
#
# Four measurements of 150 flowers of three species (Fisher 1936); the table comes with
# scikit-learn. We train on two thirds of the flowers of two species. The third species, setosa, is
# the stranger: the classifier does not know that it exists.

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

iris = load_iris()
X, species = iris.data, iris.target_names[iris.target]
stranger = X[species == "setosa"]
X_train, X_test, y_train, y_test = train_test_split(
    X[species != "setosa"], species[species != "setosa"], test_size=1 / 3, random_state=0
)

# ## Fit

from gfsvi import GFSVIClassifier

classifier = GFSVIClassifier(random_state=0).fit(X_train, y_train)
share = classifier.score(X_test, y_test)
print(f"{100 * share:.0f} % of {len(X_test)} new flowers are given the right species")

# ## Probabilities
#
# `predict_proba` averages over the functions of the posterior. `predict_distribution` also says
# where the uncertainty comes from: *entropy* is the total uncertainty about the label, and *mutual
# information* the epistemic part of it, which more rows would reduce. Here are the most certain and
# the two least certain of the new flowers.

predictive = classifier.predict_distribution(X_test)
probabilities = classifier.predict_proba(X_test)
for row in np.argsort(predictive.entropy)[[0, -2, -1]]:
    named = ", ".join(
        f"{name} {probability:.2f}"
        for name, probability in zip(classifier.classes_, probabilities[row], strict=True)
    )
    print(
        f"{named}; entropy {predictive.entropy[row]:.2f}, "
        f"mutual information {predictive.mutual_information[row]:.2f}; it is {y_test[row]}"
    )

# ## The stranger
#
# Asked about setosa, the classifier must name one of the other two species. That it should not be
# trusted shows in `novelty`: near 0 for flowers like those in training, near 1 for flowers unlike
# any of them.

of_known, of_stranger = classifier.novelty(X_test), classifier.novelty(stranger)
print(f"novelty of new flowers of the two species: {np.median(of_known):.2f}")
print(f"novelty of the stranger: {np.median(of_stranger):.2f}")

# How well can the two be distinguished? Give each flower a score; the area under the curve is the
# probability that a stranger has a higher score than a flower of a known species.

from sklearn.metrics import roc_auc_score

is_stranger = np.repeat([False, True], [len(of_known), len(of_stranger)])
entropy = classifier.predict_distribution(np.concatenate([X_test, stranger])).entropy
novelty = np.concatenate([of_known, of_stranger])
print(f"area under the curve by entropy: {roc_auc_score(is_stranger, entropy):.2f}")
print(f"area under the curve by novelty: {roc_auc_score(is_stranger, novelty):.2f}")

# Entropy is also high between the two known species; novelty is not.

import matplotlib.pyplot as plt

figure, panel = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, rows, colour in (
    ("versicolor, virginica", ~is_stranger, "#0072b2"),
    ("setosa", is_stranger, "#d55e00"),
):
    panel.scatter(novelty[rows], entropy[rows], s=16, color=colour, alpha=0.7, label=name)
panel.set(xlabel="novelty", ylabel="entropy of the label")
panel.legend()
figure.savefig("flowers.png", dpi=110)

# ## A close relative
#
# Setosa is far from the others; virginica is close to versicolor. If virginica is the stranger,
# novelty is smaller: it measures how far a row is from all training rows, not whether it deserves
# its own label. Compare it with the novelty of rows you know, not with 1.

relatives = X[species == "virginica"]
X_train, X_test, y_train, _ = train_test_split(
    X[species != "virginica"], species[species != "virginica"], test_size=1 / 3, random_state=0
)
second = GFSVIClassifier(random_state=0).fit(X_train, y_train)
print(f"novelty of new flowers of the two species: {np.median(second.novelty(X_test)):.2f}")
print(f"novelty of the close relative: {np.median(second.novelty(relatives)):.2f}")

# A rule of thumb: act on the label where entropy and novelty are both small, ask for a second
# opinion where entropy is high, and consider a new label where novelty is high.
