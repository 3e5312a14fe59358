"""A table, and predictions that know their limits.

You have a table and want to predict one of its columns, with an honest error bar and a warning for
rows that are unlike anything in the table. You do not need to know what a kernel is.
"""

# ## A table
#
# Ten measurements of 442 patients, and how far their diabetes had progressed a year later (Efron et
# al. 2004). The table comes with scikit-learn, in its original units. We turn one column into text,
# as real tables have text. Eighty-eight patients are set aside as new rows.

import numpy as np
from sklearn.datasets import load_diabetes

frame = load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"target": "progression"})
frame["sex"] = np.where(frame["sex"] == 1, "one", "other")
frame = frame.sample(frac=1, random_state=0)
known, new = frame.iloc[88:], frame.iloc[:88]
print(known[["age", "sex", "bmi", "bp", "progression"]].head(3).to_string(index=False))

# ## Fit
#
# `fit_table` takes the table as it is, including text, gaps and dates; a table of polars or Arrow
# will do as well. It chooses the prior and the size of the network, and examines the result.

from gfsvi import GFSVIRegressor, load

regressor = GFSVIRegressor(random_state=0).fit_table(known, "progression")
for diagnostic in regressor.diagnostics_:
    print(diagnostic)

# Nothing was found here, so nothing is printed. A warning would say that predictions may mislead, a
# note something worth knowing. For arrays instead of a table, `GFSVIRegressor().fit(X, y)` follows
# scikit-learn's conventions. If some rows count more than others, pass `sample_weight`.

# ## Predict
#
# A prediction is a distribution. Its standard deviation has two parts. *Aleatoric* uncertainty is
# the scatter among patients with the same measurements, which no amount of data removes.
# *Epistemic* uncertainty is what is not known about the function, which more rows would reduce.

predictive = regressor.predict_distribution(new)
low, high = predictive.interval(0.95)
print("  mean   low  high  observed  epistemic  aleatoric")
for row in range(4):
    print(
        f"{predictive.mean[row]:6.0f}{low[row]:6.0f}{high[row]:6.0f}"
        f"{new['progression'].iloc[row]:10.0f}"
        f"{predictive.epistemic_std[row]:11.0f}{predictive.aleatoric_std[row]:11.0f}"
    )

# Do the intervals keep their promise? About 95 of 100 new rows should lie inside.

inside = np.mean((low <= new["progression"]) & (new["progression"] <= high))
print(f"{100 * inside:.0f} % of the new rows are inside")

# ## Novelty
#
# `novelty` answers another question: how far is a row from all rows of the table, in the directions
# that matter? It is the share of the prior variance that the training rows leave, between 0 and 1.
# For a patient unlike any in the table, it goes up.

strange = new.iloc[[0]].copy()
strange["bmi"], strange["bp"] = 70.0, 200.0
print(f"new rows, on average: {np.mean(regressor.novelty(new)):.2f}")
print(f"the strange patient: {regressor.novelty(strange)[0]:.2f}")

# Do not trust the mean of a row whose novelty is near 1: it comes from the prior, not from the
# data.

# ## Save and load
#
# A model is one file of numbers and text. Loading it never runs code, whoever sent it.

regressor.save("diabetes.gfsvi")
same = load("diabetes.gfsvi")
print(np.array_equal(same.predict(new), regressor.predict(new)))

# ## The same from the command line
#
# Tables are CSV or Parquet files.

known.to_csv("known.csv", index=False)
new.to_csv("new.csv", index=False)

# The command line reads the model file from above, too:
#
# ```bash
# gfsvi predict diabetes.gfsvi new.csv --output predictions.csv
# head -n 3 predictions.csv
# gfsvi evaluate diabetes.gfsvi new.csv
# ```
#
# And `gfsvi fit` writes one without any Python. Its report explains in words and pictures what was
# learned, how good it is, and where not to trust it. Open it in a browser.
#
# ```bash
# gfsvi fit known.csv --target progression --output model.gfsvi --report report.html --quiet
# ```
#
# Next: [state what you know as a kernel](prior_knowledge.md).
