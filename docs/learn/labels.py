"""Labels, and rows that belong to none of them.

A classifier must choose among the labels that it knows. This one also says when a row is of a
kind that it has never seen.
"""

# ## Three kinds of iris, two of them known
#
# Four measurements of 150 flowers of three kinds (Fisher 1936); the table comes with
# scikit-learn. We learn two kinds from two thirds of their flowers. The third kind, setosa, plays
# the stranger: the classifier does not know that it exists.

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

iris = load_iris()
X, kind = iris.data, iris.target_names[iris.target]
stranger = X[kind == "setosa"]
X_train, X_test, y_train, y_test = train_test_split(
    X[kind != "setosa"], kind[kind != "setosa"], test_size=1 / 3, random_state=0
)

# ## Fit

from gfsvi import GFSVIClassifier

classifier = GFSVIClassifier(random_state=0).fit(X_train, y_train)
share = classifier.score(X_test, y_test)
print(f"{100 * share:.0f} % of {len(X_test)} new flowers are given the right kind")

# ## Probabilities
#
# `predict_proba` averages over everything that the posterior holds possible.
# `predict_distribution` takes it apart: *entropy* is the whole uncertainty about the label,
# *mutual information* the part of it that comes from not knowing the function, which more rows
# would remove. Here are the surest and the two least sure of the new flowers.

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
# Asked about setosa, the classifier must name one of the other two. That it should not be believed
# shows in `novelty`: near 0 for flowers like those it learned from, near 1 for flowers like none
# of them.

of_known, of_stranger = classifier.novelty(X_test), classifier.novelty(stranger)
print(f"novelty of new flowers of the two kinds: {np.median(of_known):.2f}")
print(f"novelty of the stranger: {np.median(of_stranger):.2f}")

# How well are the two told apart? Give each flower a score; the area under the curve is the
# probability that a stranger has a higher score than a flower of a known kind.

from sklearn.metrics import roc_auc_score

is_stranger = np.repeat([False, True], [len(of_known), len(of_stranger)])
entropy = classifier.predict_distribution(np.concatenate([X_test, stranger])).entropy
novelty = np.concatenate([of_known, of_stranger])
print(f"area under the curve by entropy: {roc_auc_score(is_stranger, entropy):.2f}")
print(f"area under the curve by novelty: {roc_auc_score(is_stranger, novelty):.2f}")

# Entropy is high between the two known kinds as well; novelty is not.

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
# Setosa is far from the others. Virginica is not far from versicolor. Let it be the stranger, and
# novelty is smaller: it measures how far a row is from all rows, not whether it has the right to a
# label of its own. Compare it with the novelty of rows you know, not with 1.

relatives = X[kind == "virginica"]
X_train, X_test, y_train, _ = train_test_split(
    X[kind != "virginica"], kind[kind != "virginica"], test_size=1 / 3, random_state=0
)
second = GFSVIClassifier(random_state=0).fit(X_train, y_train)
print(f"novelty of new flowers of the two kinds: {np.median(second.novelty(X_test)):.2f}")
print(f"novelty of the close relative: {np.median(second.novelty(relatives)):.2f}")

# The second fit took a moment only: a fit of the same shape compiles nothing.
#
# A rule for practice: act on the label where entropy and novelty are both small, ask for a second
# opinion where entropy is high, and for a new label where novelty is.
