"""What survives: kills the command at random moments, fills its disk, and runs two of it on one journal.

`make chaos` runs it; docs/reliability.md has the counts of such a run. Everything is drawn from one seed, though the moment
at which a kill lands is the machine's. Needs nothing but Python; a small file system of its own for full disks where it may
mount one (root on Linux), and a limit on the size of files where it may not.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

Bytes = dict[str, bytes]


@dataclass
class Job:
    """A call of the command, and what it leaves behind when nothing disturbs it."""

    name: str
    words: list[str]
    outputs: list[str]
    journal: str | None = None
    expected: Bytes = field(default_factory=dict)
    seconds: float = 0.0
    size: int = 0


JOBS = [
    Job(
        "fit",
        "fit diabetes --members 1500 --folds 0 --quiet --out model --trace trace.csv".split(),
        ["model", "trace.csv"],
    ),
    Job(
        "compare --journal",
        "compare labor house --splits 40 --sizes 10,20 --quiet --journal run.journal --json r.json --csv r.csv "
        "--markdown r.md --latex r.tex --html r.html".split(),
        ["r.json", "r.csv", "r.md", "r.tex", "r.html"],
        "run.journal",
    ),
    Job(
        "reproduce --journal",
        "reproduce --data data --sizes 20 --splits 30 --quiet --journal run.journal --json r.json --html r.html".split(),
        ["r.json", "r.html"],
        "run.journal",
    ),
]
# Before some runs the outputs are there already: what a broken run must leave as it was.
OLD = b"what was there before\n"


class Chaos:
    def __init__(self, binary: Path, scratch: Path, seed: int) -> None:
        self.binary = binary
        self.scratch = scratch
        self.draw = random.Random(seed)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.violations: list[str] = []
        self.data = scratch / "data"
        self.data.mkdir()
        for name in ("labor", "house"):
            self.run_to_end(["data", "write", name, "--quiet", "--out", f"{name}.libsvm.gz"], self.data)

    def start(self, words: list[str], folder: Path, **options: object) -> subprocess.Popen[bytes]:
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        return subprocess.Popen([self.binary, *words], cwd=folder, **pipes, **options)  # type: ignore[call-overload, no-any-return]

    def run_to_end(self, words: list[str], folder: Path) -> None:
        process = self.start(words, folder)
        _, message = process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: {message.decode()}")

    def folder(self, root: Path | None = None) -> Path:
        folder = Path(tempfile.mkdtemp(dir=root or self.scratch))
        (folder / "data").symlink_to(self.data)
        return folder

    def measure(self, job: Job) -> None:
        """Runs a job undisturbed, twice: the bytes must not differ."""
        for again in (False, True):
            folder = self.folder()
            begin = time.monotonic()
            self.run_to_end(job.words, folder)
            job.seconds = time.monotonic() - begin
            found = {name: (folder / name).read_bytes() for name in job.outputs}
            if again and found != job.expected:
                raise SystemExit(f"{job.name}: two undisturbed runs differ")
            job.expected = found
            job.size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
            shutil.rmtree(folder)

    def check(self, holds: bool, job: Job, folder: Path, what: str) -> None:
        if not holds:
            self.violations.append(f"{job.name}: {what} ({folder})")

    def check_outputs(self, job: Job, folder: Path, before: bytes | None) -> None:
        """Each output is whole, or as it was."""
        for name in job.outputs:
            path = folder / name
            found = path.read_bytes() if path.exists() else None
            self.check(found in (before, job.expected[name]), job, folder, f"{name} is neither old nor whole")

    def finish(self, job: Job, folder: Path, complete: list[bytes]) -> None:
        """Runs to the end, and compares with the undisturbed run. Lines that were complete must still be there."""
        process = self.start(job.words, folder)
        _, message = process.communicate()
        self.check(process.returncode == 0, job, folder, f"does not go on: {message.decode()}")
        for name in job.outputs:
            same = (folder / name).exists() and (folder / name).read_bytes() == job.expected[name]
            self.check(same, job, folder, f"{name} differs from that of an undisturbed run")
        self.check(lines(job, folder)[: len(complete)] == complete, job, folder, "lines of the journal were lost")
        left = [path.name for path in folder.iterdir() if path.suffix in (".tmp", ".lock")]
        self.check(not left, job, folder, f"{left} are left")
        if not any(str(folder) in violation for violation in self.violations):
            shutil.rmtree(folder)

    def kill(self, job: Job) -> None:
        """Kills a run once or several times, each time somewhere between its start and its end."""
        folder = self.folder()
        before = OLD if self.draw.random() < 0.5 else None
        if before is not None:
            for name in job.outputs:
                (folder / name).write_bytes(before)
        for _ in range(self.draw.choice([1, 1, 2, 3])):
            moment = self.draw.uniform(0.0, job.seconds)
            process = self.start(job.words, folder)
            time.sleep(moment)
            process.kill()
            process.communicate()
            if process.returncode == -signal.SIGKILL:
                self.counts[job.name, "kills"] += 1
            else:
                self.counts[job.name, "ended before"] += 1
            self.check(process.returncode in (0, -signal.SIGKILL), job, folder, f"exit {process.returncode}")
            self.check_outputs(job, folder, before)
            left = [path for path in folder.iterdir() if path.name.startswith(".udeed-")]
            self.counts[job.name, "temporary files left"] += len(left)
        self.counts[job.name, "runs killed"] += 1
        self.finish(job, folder, lines(job, folder))

    def fill(self, job: Job, full_disk: FullDisk) -> None:
        """Gives a run too little room, then enough."""
        with full_disk.of(self.draw.randrange(0, job.size)) as disk:
            folder = self.folder(disk.root)
            process = self.start(job.words, folder, **disk.options)
            _, message = process.communicate()
            said = message.decode()
            self.counts[job.name, "full disks"] += 1
            if process.returncode == 0:
                self.counts[job.name, "had room enough"] += 1
            else:
                says_why = said.startswith("error: ") and ("No space left" in said or "File too large" in said)
                self.check(process.returncode == 1 and says_why, job, folder, f"{process.returncode}: {said}")
            self.check_outputs(job, folder, None)
            disk.grow()
            self.finish(job, folder, lines(job, folder))

    def pair(self, job: Job) -> None:
        """Starts a second process on the journal of a first."""
        folder = self.folder()
        first = self.start(job.words, folder)
        time.sleep(self.draw.uniform(0.0, 0.9 * job.seconds))
        second = self.start(job.words, folder)
        said = [process.communicate()[1].decode() for process in (first, second)]
        ends = (first.returncode, second.returncode)
        self.counts[job.name, "pairs"] += 1
        # Whoever comes first holds the journal: with hardly a moment between them it may be the second.
        for one, other, words in ((first, second, said[1]), (second, first, said[0])):
            if (one.returncode, other.returncode) == (0, 1):
                self.counts[job.name, "refused"] += 1
                named = f"in use by process {one.pid}" in words
                self.check(named, job, folder, f"does not name its holder {one.pid}: {words}")
        if ends == (0, 0):
            self.counts[job.name, "one after the other"] += 1
        self.check(sorted(ends) in ([0, 0], [0, 1]), job, folder, f"exits {ends}: {said}")
        self.finish(job, folder, lines(job, folder))


def lines(job: Job, folder: Path) -> list[bytes]:
    """The complete lines of a journal."""
    path = folder / (job.journal or "none")
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


@dataclass
class Disk:
    root: Path | None
    options: dict[str, object]
    grow: object


class FullDisk:
    """A disk of a given size: a file system of its own, or, where none may be mounted, a limit on the size of files."""

    def __init__(self, scratch: Path) -> None:
        self.place = scratch / "disk"
        self.place.mkdir()
        self.mounts = self.mount("size=64k")
        if self.mounts:
            self.unmount()

    @property
    def kind(self) -> str:
        return "a tmpfs of its own" if self.mounts else "a limit on the size of files (RLIMIT_FSIZE)"

    def mount(self, options: str) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", options, "udeed-chaos", self.place]
        try:
            return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0
        except OSError:
            return False

    def unmount(self) -> None:
        subprocess.run(["umount", self.place], check=True)

    @contextmanager
    def of(self, size: int) -> Iterator[Disk]:
        if self.mounts:
            # A page at least: no size at all would mean no limit.
            self.mount(f"size={max(size, 4096)}")
            try:
                yield Disk(self.place, {}, lambda: self.mount("remount,size=256m"))
            finally:
                self.unmount()
        else:
            # Ignored, the signal becomes an error of the write.
            limit = {
                "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size // 4, size // 4)),
                "restore_signals": False,
            }
            yield Disk(None, limit, lambda: True)


def table(chaos: Chaos, kind: str) -> str:
    names = ["runs killed", "kills", "ended before", "temporary files left", "full disks", "had room enough", "pairs"]
    names += ["refused", "one after the other"]
    rows = [f"| | {' | '.join(job.name for job in JOBS)} | all |", "|---|" + "---|" * (len(JOBS) + 1)]
    for name in names:
        counts = [chaos.counts[job.name, name] for job in JOBS]
        rows.append(f"| {name} | {' | '.join(map(str, counts))} | {sum(counts)} |")
    rows.append(f"| violations | | | | {len(chaos.violations)} |")
    return "\n".join(rows) + f"\n\nFull disks were {kind}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path, help="the command `udeed`")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kills", type=int, default=200, help="how many kills must land")
    parser.add_argument("--full", type=int, default=50, help="how many runs get a full disk")
    parser.add_argument("--pairs", type=int, default=20, help="how many pairs of processes share a journal")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="udeed-chaos-"))
    chaos = Chaos(options.binary.resolve(), scratch, options.seed)
    begin = time.monotonic()
    for job in JOBS:
        chaos.measure(job)
        print(f"{job.name}: {job.seconds:.2f} s undisturbed", file=sys.stderr)
    while (landed := sum(chaos.counts[job.name, "kills"] for job in JOBS)) < options.kills:
        chaos.kill(JOBS[landed % len(JOBS)])
    disk = FullDisk(scratch)
    for i in range(options.full):
        chaos.fill(JOBS[i % len(JOBS)], disk)
    with_journal = [job for job in JOBS if job.journal]
    for i in range(options.pairs):
        chaos.pair(with_journal[i % len(with_journal)])
    print(table(chaos, disk.kind))
    print(f"seed {options.seed}, {time.monotonic() - begin:.0f} s", file=sys.stderr)
    for violation in chaos.violations:
        print(f"violated: {violation}", file=sys.stderr)
    if chaos.violations:
        raise SystemExit(1)
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
