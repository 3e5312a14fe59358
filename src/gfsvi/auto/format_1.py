"""Read model files of format 1, which hold the attributes of an estimator by name."""

from typing import Any

from gfsvi.auto.targets import Labels, Numbers

_SAME = ("preparation", "settings", "prior", "posterior", "history", "diagnostics")
_SAME += ("input_centre", "input_spread", "validation_rows", "feature_names")


def is_old(content: dict[str, Any]) -> bool:
    """Whether this is the content of a model file of format 1."""
    attributes = content.get("fitted")
    return (
        set(content) == {"estimator", "params", "fitted"}
        and isinstance(attributes, dict)
        and {f"{name}_" for name in (*_SAME, "novelty")} <= set(attributes)
    )


def fields_of_fitted(attributes: dict[str, Any]) -> dict[str, Any]:
    """Convert the attributes of an estimator to the fields of `Fitted`."""
    fields = {name: attributes[f"{name}_"] for name in _SAME}
    fields["feature_names"] = tuple(fields["feature_names"])
    fields["are_named"] = "feature_names_in_" in attributes
    fields["novelty_measure"] = attributes["novelty_"]
    if "classes_" in attributes:
        fields["target"] = Labels(tuple(attributes["classes_"]))
    else:
        fields["target"] = Numbers(attributes["target_centre_"], attributes["target_spread_"])
    return fields
