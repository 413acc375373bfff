"""Text

Which part of SciPy a function belongs to, told from its documentation: sparse features, six classes, 72 labels.
"""

# %%
# The rows are docstrings that come with SciPy: real text, and nothing to download. Names that would give the answer away are left
# out.

import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from udeed import (
    BaggingClassifier,
    SelfTrainingClassifier,
    UDEEDAutoClassifier,
    mask_labels,
)

parts = ["linalg", "ndimage", "optimize", "signal", "sparse", "stats"]
texts, labels = [], []
for part in parts:
    module = importlib.import_module(f"scipy.{part}")
    for name in sorted(module.__all__):
        text = inspect.getdoc(getattr(module, name)) or ""
        if len(text) > 300:
            texts.append(
                re.sub(rf"\b(scipy|{'|'.join(parts)}|{re.escape(name)})\b", " ", text)
            )
            labels.append(part)
y = np.array(labels)
print(len(y), "docstrings:", ", ".join(f"{part} {(y == part).sum()}" for part in parts))

# %%
# Sparse rows stay sparse. Any label may mark the rows without one; with words a word is natural.

X = TfidfVectorizer(
    min_df=3, max_df=0.5, sublinear_tf=True, stop_words="english"
).fit_transform(texts)
train, test = train_test_split(
    np.arange(len(y)), test_size=0.4, stratify=y, random_state=0
)
few = mask_labels(y[train], 72, random_state=0, unlabeled="?")
known = few != "?"
print(
    f"{X.shape[1]} words, {known.sum()} labeled and {(~known).sum()} unlabeled training rows, {len(test)} test rows"
)

# %%
# Self-training gives labels to rows that it is confident of. The automatic ensemble has views that need dense rows: it takes the texts
# in 60 dimensions, which a singular value decomposition finds in all of them (latent semantic analysis).

dense = TruncatedSVD(60, random_state=0).fit_transform(X)
methods = {
    "logistic regression\nlabels alone": (
        X,
        LogisticRegression(C=10.0).fit(X[train][known], few[known]),
    ),
    "bagging\nlabels alone": (
        X,
        BaggingClassifier(C=10.0, unlabeled="?", random_state=0).fit(X[train], few),
    ),
    "self-training": (
        X,
        SelfTrainingClassifier(C=10.0, unlabeled="?", random_state=0).fit(
            X[train], few
        ),
    ),
    "auto, 60 dimensions": (
        dense,
        UDEEDAutoClassifier(unlabeled="?", random_state=0).fit(dense[train], few),
    ),
}
scores = {
    name: model.score(rows[test], y[test]) for name, (rows, model) in methods.items()
}
for name, score in scores.items():
    print(f"{name.replace(chr(10), ', '):34} {score:.3f}")

# %%
# Some parts are easier to tell than others.

figure, (left, right) = plt.subplots(1, 2, width_ratios=[1, 1.2], figsize=(7.2, 3.4))
left.barh(list(scores), list(scores.values()), color="#3f6fd8")
left.invert_yaxis()
left.set(xlim=(0.5, 1), xlabel="test accuracy")
rows, model = methods["auto, 60 dimensions"]
recall = [(model.predict(rows[test][y[test] == part]) == part).mean() for part in parts]
right.bar(parts, recall, color="#2fa36b")
right.set(ylim=(0, 1), ylabel="recall of auto")
right.tick_params(axis="x", rotation=30)
