"""A rare class

One row in twenty is positive, and there are few labels. Accuracy then says little, and the usual threshold finds hardly any
of them.
"""

# %%
# Malignant tumours made rare: of 212 of them 19 stay, drawn at random, beside 357 benign ones.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import (
    balanced_accuracy_score,
    precision_recall_curve,
    recall_score,
)
from sklearn.model_selection import train_test_split
from udeed import UDEEDAutoClassifier, UDEEDClassifier, mask_labels

X, y = load_breast_cancer(return_X_y=True)
y = 1 - y  # 1 is malignant
random = np.random.RandomState(0)
kept = np.sort(
    np.r_[
        np.flatnonzero(y == 0), random.choice(np.flatnonzero(y == 1), 19, replace=False)
    ]
)
X, y = X[kept], y[kept]
train, test = train_test_split(
    np.arange(len(y)), test_size=0.5, stratify=y, random_state=0
)
few = mask_labels(y[train], 60, random_state=0)
print(
    f"{(few == 1).sum()} of {(few != -1).sum()} labels are positive; {y[test].sum()} of {len(test)} test rows are"
)

# %%
# Two ways to care for the rare class: weights of classes, or a threshold that labeled rows choose. `rate=0.05` sets the share of rows
# that are flagged, where only so many can be looked at.

settings = {
    "as it is": {},
    "class_weight='balanced'": {"class_weight": "balanced"},
    "threshold='balanced'": {"threshold": "balanced"},
    "threshold='rate=0.05'": {"threshold": "rate=0.05"},
}
models = {
    name: UDEEDClassifier(random_state=0, **given).fit(X[train], few)
    for name, given in settings.items()
}
for name, model in models.items():
    found = model.predict(X[test])
    print(
        f"{name:24} recall {recall_score(y[test], found):.2f}, flagged {found.mean():.3f}, "
        f"balanced accuracy {balanced_accuracy_score(y[test], found):.3f}"
    )

# %%
# A threshold moves along a curve; what lifts the curve itself is a better model.

figure, axes = plt.subplots()
others = {
    "UDEEDClassifier": models["as it is"],
    "UDEEDAutoClassifier": UDEEDAutoClassifier(random_state=0).fit(X[train], few),
}
for name, model in others.items():
    precision, recall, _ = precision_recall_curve(
        y[test], model.decision_function(X[test])
    )
    axes.step(recall, precision, where="post", label=name)
for (name, model), mark in zip(models.items(), "osD^", strict=True):
    found = model.predict(X[test])
    precision = y[test][found == 1].mean() if found.any() else 1.0
    axes.plot(
        recall_score(y[test], found),
        precision,
        mark,
        color="#808080",
        markersize=8,
        fillstyle="none",
        label=name,
    )
axes.set(xlabel="recall of the rare class", ylabel="precision", ylim=(0, 1.05))
axes.legend(fontsize=8, ncols=2)
