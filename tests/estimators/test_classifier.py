import numpy as np
import pytest

from gfsvi import GFSVIClassifier


def test_it_learns(classifier, numbers, houses):
    assert classifier.score(numbers, houses["kind"]) > 0.8


def test_probabilities_of_text_labels_sum_to_one(classifier, numbers):
    probabilities = classifier.predict_proba(numbers)
    assert classifier.classes_.tolist() == ["cheap", "dear", "fair"]
    assert probabilities.shape == (len(numbers), 3) and np.all(probabilities >= 0)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-9)


def test_the_predicted_label_is_the_most_probable(classifier, numbers):
    best = np.argmax(classifier.predict_proba(numbers), axis=1)
    np.testing.assert_array_equal(classifier.predict(numbers), classifier.classes_[best])


def test_the_distribution_knows_what_is_doubt_and_what_is_chance(classifier, numbers):
    predictive = classifier.predict_distribution(numbers)
    np.testing.assert_array_equal(predictive.probabilities, classifier.predict_proba(numbers))
    assert np.all(predictive.mutual_information >= -1e-9)
    assert np.all(predictive.mutual_information <= predictive.entropy + 1e-9)


def test_labels_become_positions_among_the_classes(classifier):
    assert classifier.class_numbers(["fair", "cheap", "dear"]).tolist() == [2, 0, 1]


def test_a_label_that_was_not_learned_is_named(classifier):
    with pytest.raises(ValueError, match="among 'cheap', 'dear', 'fair'; got .*'splendid'"):
        classifier.class_numbers(["fair", "splendid"])


def test_one_class_alone_is_refused_in_words(numbers, tiny):
    with pytest.raises(ValueError, match="at least two classes; got one class, 'cheap'"):
        GFSVIClassifier(**tiny).fit(numbers, ["cheap"] * len(numbers))
