"""A table, and predictions that know their limits.

You have a table and want to predict one of its columns, with an honest error bar and a word of
warning for rows that are unlike anything in the table. You need not know what a kernel is.
"""

# ## A table
#
# Ten measurements of 442 patients and how far their diabetes had progressed a year later (Efron
# et al. 2004). The table comes with scikit-learn, in its own units. One column is made text, as
# columns of real tables are. Eighty-eight patients are kept back: they are our new rows.

import numpy as np
from sklearn.datasets import load_diabetes

frame = load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"target": "progression"})
frame["sex"] = np.where(frame["sex"] == 1, "one", "other")
frame = frame.sample(frac=1, random_state=0)
known, new = frame.iloc[88:], frame.iloc[:88]
print(known[["age", "sex", "bmi", "bp", "progression"]].head(3).to_string(index=False))

# ## Fit
#
# `fit_table` takes the table as it is: text, gaps and dates included. It chooses the prior, sizes
# the network, holds a tenth of the rows back to know when to stop, and looks for what went wrong.

from gfsvi import GFSVIRegressor, load

regressor = GFSVIRegressor(random_state=0).fit_table(known, "progression")
for diagnostic in regressor.diagnostics_:
    print(diagnostic)

# Here nothing was found, so nothing is printed. A warning would say that predictions may mislead, a
# note something worth knowing. With arrays instead of a table, `GFSVIRegressor().fit(X, y)` is the
# same in scikit-learn's conventions.

# ## Predict
#
# A prediction is a distribution. Its standard deviation has two parts. *Aleatoric* is the scatter
# of patients who measure the same: no further table removes it. *Epistemic* is what is not known
# about the function: more rows would.

predictive = regressor.predict_distribution(new)
low, high = predictive.interval(0.95)
print("  mean   low  high  observed  epistemic  aleatoric")
for row in range(4):
    print(
        f"{predictive.mean[row]:6.0f}{low[row]:6.0f}{high[row]:6.0f}"
        f"{new['progression'].iloc[row]:10.0f}"
        f"{predictive.epistemic_std[row]:11.0f}{predictive.aleatoric_std[row]:11.0f}"
    )

# Do the intervals hold what they promise? About 95 of 100 new rows should lie inside.

inside = np.mean((low <= new["progression"]) & (new["progression"] <= high))
print(f"{100 * inside:.0f} % of the new rows are inside")

# ## Novelty
#
# `novelty` asks another question: how far is a row from all rows of the table, in the directions
# that matter? It is the share of the prior's variance that the data left, between 0 and 1. Make a
# patient whom no table has seen, and it goes up.

strange = new.iloc[[0]].copy()
strange["bmi"], strange["bp"] = 70.0, 200.0
print(f"new rows, on average: {np.mean(regressor.novelty(new)):.2f}")
print(f"the strange patient: {regressor.novelty(strange)[0]:.2f}")

# Do not trust the mean of a row whose novelty is near 1: there the prior speaks, not the data.

# ## Keep it
#
# A model is one file of numbers and text. Loading one never runs code, whoever sent it.

regressor.save("diabetes.gfsvi")
same = load("diabetes.gfsvi")
print(np.array_equal(same.predict(new), regressor.predict(new)))

# ## The same from the command line
#
# Tables are CSV or Parquet files.

known.to_csv("known.csv", index=False)
new.to_csv("new.csv", index=False)

# The model file from above is known to the command line too:
#
# ```bash
# gfsvi predict diabetes.gfsvi new.csv --output predictions.csv
# head -n 3 predictions.csv
# gfsvi evaluate diabetes.gfsvi new.csv
# ```
#
# And `gfsvi fit` makes one without Python. Its page says in words and pictures what was learned,
# how good it is, and where not to trust it. Open it in a browser.
#
# ```bash
# gfsvi fit known.csv --target progression --output model.gfsvi --report report.html --quiet
# ```
#
# Next: [state what you know as a kernel](prior_knowledge.md).
