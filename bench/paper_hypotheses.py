"""How well ways to run the paper's descent explain its tables, on seeds that had no part in choosing one.

Each way runs on the 19 regular sets, with three sizes and 50 splits a seed. The columns are the mean of z^2 over the cells of the paper,
with and without its rounding to three digits, and how many of the 228 verdicts of table VI agree. The last lines say how often
chance keeps all nine columns below the bar: seeds of the first way beside each other. `make paper-hypotheses` runs it; it takes
half a minute for each way and seed, and keeps what it has in a folder.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from sets import script_options

SETS = (
    "diabetes,heart,wdbc,austra,house,vote,vehicle,hepatitis,labor,ionosphere,"
    "kr_vs_kp,isolet,sonar,colic,credit_g,BCI,Digit1,COIL2,g241n"
)
TRUE = "--protocol paper --loss logistic"
# Beyond the first, `Lc` takes no step unless its way says so.
WAYS = {
    "the gradient as printed": "--protocol paper",
    "as printed, rate 0.22": "--protocol paper --rate 0.22",
    "as printed, rate 0.28": "--protocol paper --rate 0.28",
    "as printed, rate 0.35": "--protocol paper --rate 0.35",
    "as printed, rate 0.4": "--protocol paper --rate 0.4",
    "as printed, gamma 0.8": "--protocol paper --gamma 0.8",
    "as printed, gamma 1.25": "--protocol paper --gamma 1.25",
    "as printed, unweighted vote": "--protocol paper --vote unweighted",
    "as printed, 12 steps": "--protocol paper --steps 12",
    "as printed, 50 steps": "--protocol paper --steps 50",
    "the gradient of the loss": TRUE,
    "of the loss, rate 0.35": f"{TRUE} --rate 0.35",
    "of the loss, rate 0.4": f"{TRUE} --rate 0.4",
    "of the loss, rate 0.5": f"{TRUE} --rate 0.5",
    "of the loss, rate 0.4, unweighted vote": f"{TRUE} --rate 0.4 --vote unweighted",
    "of the loss, Lc descends": "--protocol corrected",
}
# The bars: a mean of z^2 in each of nine columns, and verdicts of table VI.
MOST, VERDICTS = 1.5, 170
TABLES = {20: "II", 50: "III", 100: "IV"}
COLUMNS = [*((TABLES[m], "lcud", m) for m in TABLES), *(("V", other, m) for other in ("lc", "lcd") for m in TABLES)]


def results(command: Path, data: Path, kept: Path, options: str, seed: int) -> dict[str, Any]:
    line = f"reproduce --data {data} --sets {SETS} --methods lcud,bagging,lc,lcd {options} --seed {seed} --json -"
    build = hashlib.sha256(command.read_bytes()).hexdigest()
    file = kept / f"{hashlib.sha256(f'{build} {line}'.encode()).hexdigest()[:24]}.json"
    if not file.exists():
        found = subprocess.run([command, *line.split()], check=True, capture_output=True).stdout
        kept.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_bytes(found)
        part.rename(file)
    return json.loads(file.read_text())


def squares(found: dict[str, Any], rounded: bool) -> list[float]:
    """The mean of z^2 in each column, with the rounding of the paper's figures or without."""
    of = defaultdict(list)
    for cell in found["paper"]["cells"]:
        if cell["z"] is not None:
            z = cell["z"]
            if not rounded:
                own = (cell["ours_std"] ** 2 + cell["paper_std"] ** 2) / cell["ours_splits"]
                z = (cell["ours"] - cell["paper"]) / own**0.5 if own > 0 else 0.0
            of[cell["table"], cell["column"], cell["size"]].append(z * z)
    return [mean(of[column]) for column in COLUMNS]


def agreeing(found: dict[str, Any]) -> Counter[str]:
    """How many verdicts of table VI agree, by set."""
    cells = [cell for cell in found["paper"]["cells"] if cell["table"] == "VI"]
    return Counter(cell["dataset"] for cell in cells if cell["our_verdicts"] == [cell["paper_verdict"]])


def beside(one: dict[str, Any], other: dict[str, Any]) -> list[float]:
    """The mean of z^2 in each column where another seed takes the place of the paper."""

    def splits(found: dict[str, Any]) -> dict[tuple[str, str, int], list[float]]:
        return {(of["dataset"], of["method"], of["size"]): of["accuracies"] for of in found["results"]}

    ours, theirs = splits(one), splits(other)
    columns = []
    for table, column, m in COLUMNS:
        z = []
        for name in SETS.split(","):
            both = []
            for of in (ours, theirs):
                values = of[name, "lcud", m]
                if table == "V":
                    values = [own - others for own, others in zip(values, of[name, column, m], strict=True)]
                both.append((mean(values), stdev(values) ** 2 / len(values)))
            (a, of_a), (b, of_b) = both
            z.append((a - b) ** 2 / (of_a + of_b) if of_a + of_b > 0 else 0.0)
        columns.append(mean(z))
    return columns


def shown(columns: list[float]) -> str:
    return " | ".join(" ".join(f"{x:.1f}" for x in columns[first : first + 3]) for first in (0, 3, 6))


def main() -> None:
    parser = script_options(__doc__)
    parser.add_argument("--command", type=Path, default=Path("target/release/udeed"), help="the command")
    parser.add_argument("--kept", type=Path, default=Path("target/bench/paper"), help="folder for what is kept")
    parser.add_argument("--seeds", type=int, nargs="+", default=[200, 201], help="seeds of every way")
    parser.add_argument("--more", type=int, nargs="*", default=[202, 203, 204, 205], help="further seeds of the first way")
    arguments = parser.parse_args()
    command, data, kept = arguments.command.resolve(), arguments.data, arguments.kept

    print("| way | LcUd | LcUd - Lc | LcUd - Lcd | mean | without rounding | verdicts |\n| --- | --- | --- | --- | --- | --- | --- |")
    most, firsts, by_set = Counter(), [], {}
    for way, options in WAYS.items():
        seeds = arguments.seeds + (arguments.more if not firsts else [])
        found = [results(command, data, kept, options, seed) for seed in seeds]
        firsts = firsts or found
        means = [[mean(x) for x in zip(*(squares(one, rounded) for one in found), strict=True)] for rounded in (True, False)]
        verdicts = [agreeing(one) for one in found]
        by_set[way] = {name: mean(one[name] for one in verdicts) for name in SETS.split(",")}
        totals = sorted(one.total() for one in verdicts)
        most[way] = totals[-1]
        counts = " ".join(map(str, totals))
        print(f"| {way} | {shown(means[0])} | {mean(means[0]):.2f} | {mean(means[1]):.2f} | {counts} |", flush=True)
    way, verdicts = most.most_common(1)[0]
    met = "reaches" if verdicts >= VERDICTS else "does not reach"
    print(f"\nmost verdicts: {verdicts} of 228, {way}: {met} {VERDICTS}")
    best = {name: max(of[name] for of in by_set.values()) for name in SETS.split(",")}
    print(f"the best way for each set by itself: {sum(best.values()):.0f} of 228")
    print("| set | " + " | ".join(best) + " |\n| --- |" + " ---: |" * len(best))
    for way in [next(iter(WAYS)), "of the loss, rate 0.4"]:
        print(f"| {way} | " + " | ".join(f"{by_set[way][name]:.0f}" for name in best) + " |")
    print("| the best | " + " | ".join(f"{x:.0f}" for x in best.values()) + " |")

    own = [beside(one, other) for one, other in itertools.combinations(firsts, 2)]
    within = sum(max(columns) <= MOST for columns in own)
    print(f"\nseeds of the first way beside each other: {shown([mean(x) for x in zip(*own, strict=True)])}")
    print(f"all nine columns at most {MOST:g} in {within} of {len(own)} pairs of seeds")


if __name__ == "__main__":
    main()
