"""Images by embeddings

Handwritten digits as coordinates in a small space, as an embedding of a network would give them, and three labels for each digit.
"""

# %%
# Any embedding will do: the estimators take an array. Here principal components stand for the network, so that nothing is to be
# downloaded.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from udeed import (
    ConfidenceDisplay,
    LabelSpreadingClassifier,
    UDEEDAutoClassifier,
    mask_labels,
)

digits = load_digits()
X, y = PCA(24, random_state=0).fit_transform(digits.data), digits.target
few = mask_labels(y, 30, random_state=0)
known, hidden = few != -1, few == -1
print(f"{len(y)} images, {known.sum()} labels")

# %%
# Images of one digit lie near to each other, which methods with a graph of all rows use.

methods = {
    "logistic regression, labels alone": LogisticRegression(max_iter=1000).fit(
        X[known], y[known]
    ),
    "label spreading": LabelSpreadingClassifier(random_state=0).fit(X, few),
    "auto": UDEEDAutoClassifier(random_state=0).fit(X, few),
}
for name, model in methods.items():
    print(
        f"{name:34} {(model.predict(X[hidden]) == y[hidden]).mean():.3f} of the unlabeled images"
    )

# %%
# Nobody needs to look at all 1767 of them: those of which the model is least sure come first. The title of each has what the model
# says, then the truth.

model = methods["auto"]
rows = np.flatnonzero(hidden)
order = np.argsort(model.predict_proba(X[rows]).max(axis=1))[:14]
figure, axes = plt.subplots(
    2, 7, figsize=(7.2, 2.9), label="Images of which the model is least sure"
)
for each, row in zip(axes.flat, rows[order], strict=True):
    each.imshow(digits.images[row], cmap="gray_r")
    each.set_title(f"{model.predict(X[[row]])[0]}, {y[row]}", fontsize=10)
    each.set_axis_off()

# %%
# How sure it is of the others:

ConfidenceDisplay.from_estimator(model, X, few)
