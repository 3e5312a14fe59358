"""From the studio to a script.

A kernel is an opinion about functions, and hardly anyone can read one. In the studio you move an
opinion and see the functions that it allows, add data and see what is learned. Then you leave with
code, which is where this page ends.
"""

# ## A table
#
# The level of a lake over six years, on 180 days. The numbers are synthetic, so that we know the
# future: a cycle of one year, which is not a sine, and a slow drift. The last two years are set
# aside.

import numpy as np
import pandas as pd

random = np.random.default_rng(0)


def truth(years: np.ndarray) -> np.ndarray:
    """The level in centimetres: a cycle of one year on a slow drift."""
    cycle = 9 * np.sin(2 * np.pi * years) + 4 * np.cos(4 * np.pi * years)
    return 140 + cycle + 6 * np.sin(0.8 * years)


days = np.sort(random.choice(6 * 365, size=180, replace=False))
dates = np.datetime64("2016-01-01") + days
levels = truth(days / 365.2425) + 1.5 * random.normal(size=180)
lake = pd.DataFrame({"date": dates, "level": levels.round(1)})
lake[days < 4 * 365].to_csv("lake.csv", index=False)
print(lake.head(3).to_string(index=False))

# ## Open the studio
#
# The studio needs the extra `studio` ([install](../install.md)). This starts a server on your
# machine and prints an address; open it in a browser.
#
# ```console
# $ gfsvi studio lake.csv --target level
# studio: http://127.0.0.1:41327/jBsC0Gk3.../
# ```
#
# Click *seasonal with trend*, the fourth button at the top. The sentences below the buttons say
# what you have just claimed: that the level drifts very smoothly, that it repeats every year in a
# shape that changes slowly, how often it turns, and within which bounds it stays.
#
# ![The studio with the lake's table](../pictures/studio.png)
#
# The drift of this lake is smaller than its season: set the size of the first block to 6 and that
# of the second to 9, with the slider or by typing over the number. Sizes are standard deviations
# in centimetres.
#
# The upper picture has functions that the prior allows before it has seen a single number. Below
# is what is learned, by the exact Gaussian process on the left and by the network on the right.
# The green strip is novelty: where it is dark, predictions are the prior's. Both continue the
# season into years without data, because the prior says that it repeats.
#
# Now doubt it. Drag the length scale of the first block to the left, and the trend bends until it
# follows single months. Drag the period to 10 months, and the season no longer fits: the log
# evidence per row, below the left picture, falls. `Ctrl+Z` takes each of these back. Under
# *network* you see whether the network can follow the prior at all, and under *questions* you say
# which of five functions could be yours, if you would rather not talk about length scales.

# ## Leave with code
#
# Under *out* is the code of what you see. `Known` keeps the fit from changing the prior that you
# have chosen; length scales are in the units of the columns, variances in those of the
# standardised target. Only the noise is learned.

from gfsvi import GFSVIRegressor
from gfsvi.kernels import RBF, Known, Matern52, Periodic

kernel = Known(
    RBF(lengthscale="2 years", variance=0.6106823806).on("date")
    + Periodic(lengthscale=1.0, variance=1.374035356, period="1 year").on("date")
    * Matern52(lengthscale="10 years", variance=1.0).on("date")
)

table = pd.read_csv("lake.csv")
regressor = GFSVIRegressor(
    kernel=kernel,
    likelihood="normal",  # whose noise is learned
    held_out="none",  # all rows, as in the studio
    random_state=0,
)
regressor.fit_table(table, target="level")
regressor.save("lake.gfsvi")
regressor.report("lake.html")

# ## Who knows the future?
#
# The two years that the model has not seen:

future = lake[days >= 4 * 365]
predictive = regressor.predict_distribution(future)
low, high = predictive.interval(0.95)
error = np.sqrt(np.mean((predictive.mean - future["level"]) ** 2))
inside = np.mean((low <= future["level"]) & (future["level"] <= high))
print(
    f"error {error:.1f} cm, {100 * inside:.0f} % of {len(future)} days inside their 95 % interval"
)

# The studio also writes the command line and the TOML of an experiment, saves what you see as a
# workspace, and runs the same fit with a progress bar and its report. How each of its parts works
# is on [its own page](../do/studio.md).
