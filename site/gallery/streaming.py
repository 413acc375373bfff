"""A file larger than the memory

Two hundred labels and a hundred thousand unlabeled rows, of which the command may hold 8 MB. It streams the rest in every step of the
descent, to the same model.
"""

# %%
# The rows are measurements of breast tumours, drawn again and again with a little noise: what counts here is their number.

import os
import subprocess
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from udeed import load

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
random = np.random.RandomState(0)


def drawn(n):
    rows = random.randint(len(X), size=n)
    noisy = X.iloc[rows] * (1 + 0.02 * random.randn(n, X.shape[1]))
    return noisy.round(4), y.iloc[rows].map({0: "malignant", 1: "benign"})


labeled, kinds = drawn(200)
labeled.assign(kind=kinds).to_csv("labeled.csv", index=False)
drawn(100_000)[0].to_csv("unlabeled.csv", index=False)
test, truth = drawn(5000)
print(f"unlabeled.csv: {Path('unlabeled.csv').stat().st_size / 2**20:.0f} MiB")

# %%
# The command with and without a limit. What exceeds it goes to a temporary file beside the model.

command = os.environ.get("UDEED_COMMAND", "udeed")
seconds = {}
for name, more in (("all", []), ("some", ["--memory", "8M"])):
    call = [
        command,
        "fit",
        "labeled.csv",
        "--label",
        "kind",
        "--unlabeled",
        "unlabeled.csv",
        "--folds",
        "0",
    ]
    began = time.perf_counter()
    subprocess.run(
        [*call, *more, "--out", f"{name}.safetensors", "--quiet"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    seconds[name] = time.perf_counter() - began
    print(f"{name} of the rows in memory: {seconds[name]:.1f} s, reading included")

# %%
# The models are the same, and Python loads them.

models = [load(f"{name}.safetensors") for name in seconds]
same = (models[0].predict_proba(test) == models[1].predict_proba(test)).all()
print(f"same probabilities: {same}, accuracy {models[0].score(test, truth):.3f}")
assert same

# %%
# The losses in each step of the descent:

figure, axes = plt.subplots(label="Losses of the descent")
steps = pd.DataFrame(models[1].history_)
for column, name in (("total", "V"), ("diversity", "V_div")):
    axes.plot(range(1, len(steps) + 1), steps[column], marker=".", label=name)
axes.set(xlabel="step", ylabel="loss")
axes.legend()
