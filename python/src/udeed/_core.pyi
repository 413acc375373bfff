from collections.abc import Callable, Iterator, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from udeed._ensemble import Training
from udeed._foreign import Member
from udeed._rows import Columns, Rows

__all__ = [
    "VERSION",
    "FitStopped",
    "Held",
    "Model",
    "Preparation",
    "Statistics",
    "average_ranks",
    "bootstraps",
    "cards",
    "choose",
    "compare",
    "comparison_report",
    "defaults",
    "diversity",
    "doubt",
    "doubtful_classes",
    "fit",
    "forecast",
    "half_of_memory",
    "hold",
    "hold_file",
    "idle_settings",
    "measures",
    "partial",
    "shuffles",
    "spill",
    "strategies",
    "stratified_split",
    "suggest",
    "verify",
]

VERSION: str

_Losses = tuple[str, float, float, float, bool]
_Listener = Callable[[str, int, int | None, _Losses | None], object] | None
_Step = tuple[str, int, float, float, float, bool]

class FitStopped(RuntimeError): ...

@final
class Held:
    n_rows: int
    is_in_file: bool

@final
class Statistics:
    n_rows: int
    @staticmethod
    def of(rows: Rows, exact: bool) -> Statistics: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Statistics: ...
    def __add__(self, other: Statistics, /) -> Statistics: ...
    def __reduce__(self) -> tuple[Callable[..., Statistics], tuple[bytes]]: ...

@final
class Preparation:
    columns: Columns | None
    n_columns: int
    @staticmethod
    def of(settings: str, statistics: Statistics) -> Preparation: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Preparation: ...
    def __reduce__(self) -> tuple[Callable[..., Preparation], tuple[bytes]]: ...

@final
class Model:
    classes: list[str]
    columns: Columns
    words: list[str]
    is_named: bool
    features: list[str]
    settings: str
    training: str
    warnings: list[str]
    findings: str | None
    held_rows: str
    threshold: float
    is_calibrated: bool
    keeps_rows: bool
    n_members: int
    weights: list[NDArray[np.float64]]
    feature_importances: NDArray[np.float64] | None
    def coefficients(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None: ...
    def may_keep(self, training: Training) -> bool: ...
    def keeping_rows(self, training: Training, n_jobs: int) -> Model: ...
    def unseen(self, rows: Rows) -> list[str]: ...
    def decision(self, rows: Rows, n_jobs: int) -> NDArray[np.float64]: ...
    def probabilities(self, rows: Rows, n_jobs: int) -> NDArray[np.float64]: ...
    def predict(self, rows: Rows, n_jobs: int) -> NDArray[np.int64]: ...
    def told(self, rows: Rows, n_jobs: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]: ...
    def sets(self, rows: Rows, coverage: float, n_jobs: int) -> NDArray[np.bool_]: ...
    def too_few_for(self, coverage: float) -> list[str]: ...
    def classify(self, rows: Rows, n_jobs: int) -> NDArray[np.uint8]: ...
    def transduction(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_] | None] | None: ...
    def initial(self) -> Model | None: ...
    def logistic(self) -> Model: ...
    def to_onnx(self) -> bytes: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def save(self, path: str) -> None: ...
    @staticmethod
    def load(path: str) -> Model: ...
    foreign: list[Member]
    @staticmethod
    def from_parts(bytes: bytes, foreign: Sequence[tuple[int, Member]]) -> Model: ...
    def __reduce__(self) -> tuple[Callable[..., Model], tuple[bytes, list[tuple[int, Member]]]]: ...
    def __eq__(self, other: object, /) -> bool: ...

def cards() -> str: ...
def defaults(method: str) -> str: ...
def idle_settings(settings: str) -> list[tuple[str, str]]: ...
def hold(settings: str, batches: Iterator[Rows], n_columns: int, place: tuple[int, str]) -> Held: ...
def hold_file(
    settings: str, path: str, columns: Columns, is_named: bool, place: tuple[int, str], n_jobs: int
) -> Held: ...
def spill(path: str, preparation: Preparation, batches: Iterator[Rows]) -> tuple[int, int]: ...
def verify(path: str) -> None: ...
def half_of_memory() -> int: ...
def partial(path: str, checksum: int, term: str, weights: NDArray[np.float64], n_jobs: int) -> bytes: ...
def fit(
    settings: str,
    training: Training,
    threshold: str,
    n_jobs: int,
    listener: _Listener,
    learners: Sequence[object] = ...,
    device: str = ...,
) -> tuple[Model, list[_Step], str, NDArray[np.float64] | None]: ...
def choose(
    settings: str,
    grid: str,
    training: Training,
    folds: Sequence[Sequence[int]],
    n_jobs: int,
    listener: _Listener,
    device: str = ...,
) -> tuple[str, int, str]: ...
def stratified_split(
    classes: list[str],
    codes: NDArray[np.int64],
    test: float | int | None,
    labeled: float | int,
    seed: int,
    repetition: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def strategies() -> list[tuple[str, str]]: ...
def suggest(
    training: Training,
    model: Model | None,
    settings: str | None,
    learners: Sequence[object],
    device: str,
    strategy: str,
    count: int,
    per_class: int | None,
    costs: NDArray[np.float64] | None,
    seed: int,
    n_jobs: int,
) -> tuple[NDArray[np.int64], list[NDArray[np.float64]], list[str | None], list[str]]: ...
def doubt(
    training: Training, seed: int, n_jobs: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], tuple[int, int], int, list[str]]: ...
def forecast(
    training: Training,
    more: list[int],
    settings: str | None,
    learners: Sequence[object],
    device: str,
    repetitions: int,
    seed: int,
    n_jobs: int,
) -> tuple[
    list[tuple[int, float, tuple[float, float], tuple[float, float]]], list[tuple[float, float]], bool, list[str]
]: ...
def bootstraps(codes: NDArray[np.uint8], seed: int, members: int) -> NDArray[np.uint8]: ...
def shuffles(seed: int, lengths: Sequence[int]) -> list[list[int]]: ...
def doubtful_classes(classes: list[str]) -> list[str]: ...
def diversity(oracle: NDArray[np.bool_]) -> str: ...
def measures() -> list[tuple[str, str, bool]]: ...
def compare(comparison: str, reference: str) -> str: ...
def comparison_report(comparison: str, reference: str) -> str: ...
def average_ranks(scores: str, title: str) -> tuple[str, str]: ...
