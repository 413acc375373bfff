"""Which labels to buy, which to doubt

Labels cost work. `suggest` says which rows to label next, `forecast` what further labels would bring, and `doubt` which of those at
hand may be wrong.
"""

# %%
# Handwritten digits, three against eight, with ten labels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from udeed import (
    BaggingClassifier,
    SuggestionDisplay,
    doubt,
    forecast,
    mask_labels,
    suggest,
)

digits = load_digits()
chosen = np.isin(digits.target, (3, 8))
X, y, images = digits.data[chosen], digits.target[chosen], digits.images[chosen]
X = X[:, X.std(axis=0) > 0]  # pixels that are always white tell nothing
few = mask_labels(y, 10, random_state=1)

# %%
# Twenty more labels, five at a time: those that are suggested, beside random ones.

curves = {}
for strategy in ("variance-reduction", "random"):
    labels, curve = few.copy(), []
    for _ in range(5):
        model = BaggingClassifier(random_state=0).fit(X, labels)
        hidden = labels == -1
        curve.append(model.score(X[hidden], y[hidden]))
        ask = suggest(X, labels, n=5, model=model, strategy=strategy, random_state=0)
        labels[ask] = y[ask]
    curves[strategy] = curve
    print(f"{strategy:20}", *(f"{value:.3f}" for value in curve))

# %%
# One run of each is a picture, not a result; [Labels](../labeling.md) has the gains over many sets.

figure, axes = plt.subplots()
for strategy, curve in curves.items():
    axes.plot(range(10, 35, 5), curve, marker="o", label=strategy)
axes.set(xlabel="labels", ylabel="accuracy on unlabeled rows")
axes.legend()

# %%
# Where the suggestions lie among all rows, in the plane of two principal components:

SuggestionDisplay.from_estimator(
    BaggingClassifier(random_state=0).fit(X, few), X, few, n=8, random_state=0
)

# %%
# What would fifty more labels bring, judged by the sixty at hand?

sixty = mask_labels(y, 60, random_state=0)
found = forecast(X, sixty, [50, 100], BaggingClassifier(random_state=0), random_state=0)
for more, accuracy, low, high in zip(
    found.more, found.accuracy, found.low, found.high, strict=True
):
    print(f"{more} more labels: {accuracy:.3f}, between {low:.3f} and {high:.3f}")

# %%
# And which labels are wrong? Here six of sixty were changed in secret.

wrong = np.random.RandomState(3).choice(np.flatnonzero(sixty != -1), 6, replace=False)
noisy = sixty.copy()
noisy[wrong] = np.where(y[wrong] == 3, 8, 3)
positions = doubt(X, noisy, random_state=0)
print(
    f"{len(np.intersect1d(positions[:6], wrong))} of the 6 wrong labels are among the first 6 doubts"
)

figure, axes = plt.subplots(1, 8, figsize=(7.2, 1.5), label="The labels to doubt first")
for each, row in zip(axes, positions, strict=False):
    each.imshow(images[row], cmap="gray_r")
    each.set_title(f"“{noisy[row]}”", fontsize=10)
    each.set_axis_off()
