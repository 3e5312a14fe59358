"""Files that were written before a field was added still load."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false

import dataclasses
import json

import numpy as np

from gfsvi.auto import Fitted, Learner
from gfsvi.auto.parameters import Parameters

from .forging import changed, text_of

X = np.linspace(-1, 1, 60)[:, None]


def remove_from_all(content, name):
    """Remove a field from all objects of a file."""
    parts = content.values() if isinstance(content, dict) else content
    if isinstance(content, dict):
        content.get("fields", {}).pop(name, None)
    for part in parts if isinstance(content, dict | list) else ():
        remove_from_all(part, name)


def test_fits_without_unseen_rows_and_updates_load_and_learn(tmp_path):
    path = tmp_path / "old.gfsvi"
    parameters = Parameters(kernel="rbf", hidden=(8,), random_state=0)
    fitted = Learner("regression", parameters).learn(X, np.sin(3 * X[:, 0]))
    before = fitted.predict(X).std
    dataclasses.replace(fitted, unseen=None, updates=None).save(path)
    data = path.read_bytes()
    content = json.loads(text_of(data))["content"]
    (fields,) = (value["fields"] for name, value in content["dict"] if name == "fitted")
    del fields["unseen"], fields["updates"]
    remove_from_all(content, "near")
    path.write_bytes(changed(data, content=content))
    loaded = Fitted.load(path)
    np.testing.assert_allclose(loaded.predict(X).std, before, rtol=1e-9)
    assert loaded.unseen is None and loaded.updates is None
    assert loaded.condition_on(X[:3], np.zeros(3)).updates.num_learned == 3
