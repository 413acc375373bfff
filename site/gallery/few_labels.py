"""Few labels in a table

Thirty columns of measurements of breast tumours, of which only a handful have a diagnosis. What do the others bring, and how fast
does that fade as labels are added?
"""

# %%
# 569 rows; of the training half, 10 to 80 labels stay and all others become -1, the label of unlabeled rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from udeed import UDEEDAutoClassifier, UDEEDClassifier, mask_labels

X, y = load_breast_cancer(return_X_y=True)

# %%
# A classifier of scikit-learn learns from the labeled rows alone. The estimators of udeed take all rows.

methods = {
    "random forest, labels alone": RandomForestClassifier(200, random_state=0),
    "UDEEDClassifier": UDEEDClassifier(random_state=0),
    "UDEEDAutoClassifier": UDEEDAutoClassifier(random_state=0),
}
numbers, repetitions = [10, 20, 40, 80], 5
accuracy = {name: np.zeros((len(numbers), repetitions)) for name in methods}
for repetition in range(repetitions):
    train, test = train_test_split(
        np.arange(len(y)), test_size=0.5, stratify=y, random_state=repetition
    )
    for at, n in enumerate(numbers):
        few = mask_labels(y[train], n, random_state=repetition)
        for name, method in methods.items():
            rows = train[few != -1] if "alone" in name else train
            method.fit(X[rows], few[few != -1] if "alone" in name else few)
            accuracy[name][at, repetition] = method.score(X[test], y[test])

for name, values in accuracy.items():
    print(f"{name:28}", *(f"{mean:.3f}" for mean in values.mean(axis=1)))

# %%
# The warning means that in some splits the descent of `UDEEDClassifier` found nothing to gain: it stayed what it begins as, bagging.
#
# The bands are one standard deviation over the five splits. Five splits of one table decide nothing; [When it
# helps](../when-it-helps.md) has the comparison over many sets.

figure, axes = plt.subplots()
for name, values in accuracy.items():
    mean, deviation = values.mean(axis=1), values.std(axis=1)
    axes.plot(numbers, mean, marker="o", label=name)
    axes.fill_between(numbers, mean - deviation, mean + deviation, alpha=0.12)
axes.set(
    xscale="log",
    xticks=numbers,
    xticklabels=numbers,
    xlabel="labels",
    ylabel="test accuracy",
)
axes.minorticks_off()
axes.legend()
