"""Calibrated probabilities and sets

The descent of UDEED makes members disagree, and draws the probabilities towards one half. Where they are used as numbers, calibrate
them; where a wrong answer is dear, ask for a set of classes.
"""

# %%
# Radar returns of the ionosphere, as the command writes them from its built-in sets.

import os
import subprocess

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from udeed import UDEEDClassifier, mask_labels

command = os.environ.get("UDEED_COMMAND", "udeed")
subprocess.run(
    [command, "data", "write", "ionosphere", "--out", "ionosphere.csv", "--quiet"],
    check=True,
)
table = pd.read_csv("ionosphere.csv")
X, y = table.drop(columns=["class", "a02"]), table["class"].to_numpy()
train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
few = mask_labels(y[train], 60, random_state=0, unlabeled="?")

# %%
# `calibrated=True` fits a logistic function to votes on labeled rows that members did not learn from.

models = {
    name: UDEEDClassifier(calibrated=calibrated, unlabeled="?", random_state=0).fit(
        X[train], few
    )
    for name, calibrated in (("as it is", False), ("calibrated", True))
}
for name, model in models.items():
    probabilities = model.predict_proba(X[test])
    right = (model.predict(X[test]) == y[test]).mean()
    print(
        f"{name:12} accuracy {right:.3f}, log loss {log_loss(y[test], probabilities):.3f}"
    )

# %%
# Reliability: among rows that are given 70 %, 70 % should be right. Bins hold equally many rows.

figure, axes = plt.subplots()
axes.plot([0, 1], [0, 1], color="#808080", linewidth=1, linestyle="--")
for name, model in models.items():
    given = model.predict_proba(X[test])[:, 1]
    bins = np.array_split(np.argsort(given), 7)
    came = [(y[test][rows] == model.classes_[1]).mean() for rows in bins]
    axes.plot([given[rows].mean() for rows in bins], came, marker="o", label=name)
axes.set(
    xlabel="probability given to the class g",
    ylabel="share that is g",
    xlim=(0, 1),
    ylim=(0, 1),
)
axes.legend()

# %%
# A conformal set holds the true class of nine in ten rows of each class, whatever the model; a better model has smaller sets. Sets of
# both classes are the rows to look at.

sets = models["calibrated"].predict_set(X[test], coverage=0.9)
truth = y[test][:, None] == models["calibrated"].classes_
print(
    f"true class in the set: {sets[truth].mean():.3f}; sets with one class: {(sets.sum(axis=1) == 1).mean():.3f}"
)
