"""A fitted estimator in eight threads at once, and in a fork."""

import os
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest


def test_eight_threads_predict_what_one_does(regressor, classifier, houses, numbers):
    expected = regressor.predict(houses), classifier.predict_proba(numbers)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: regressor.predict(houses), range(24)))
        shares = list(pool.map(lambda _: classifier.predict_proba(numbers), range(24)))
    assert all(np.array_equal(one, expected[0]) for one in found)
    assert all(np.array_equal(one, expected[1]) for one in shares)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_after_a_fit_gets_a_sentence_where_it_would_wait_for_ever(regressor, houses):
    regressor.predict(houses)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of JAX, which says that forks may hang
        child = os.fork()
    if child == 0:
        try:
            regressor.predict(houses)
            os.write(writing, b"predicted")
        except RuntimeError as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        assert "got a fork, in which JAX waits for threads" in told.read()
    os.waitpid(child, 0)
    assert np.all(np.isfinite(regressor.predict(houses)))
