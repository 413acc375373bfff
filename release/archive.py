"""Packs a folder into a `.tar.gz` beside it, the same bytes for the same files on every system.

python release/archive.py target/dist/udeed-0.1.0-x86_64-unknown-linux-gnu
"""

import gzip
import sys
import tarfile
from pathlib import Path


def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without the owner and the time of this machine; a zip cannot tell years before 1980."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 315532800
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


folder = Path(sys.argv[1]).resolve()
archive = folder.parent / f"{folder.name}.tar.gz"
with (
    gzip.GzipFile(archive, "wb", mtime=0) as zipped,
    tarfile.open(fileobj=zipped, mode="w", format=tarfile.GNU_FORMAT) as packed,
):
    packed.add(folder, arcname=folder.name, recursive=False, filter=plain)
    for path in sorted(folder.rglob("*")):
        packed.add(path, arcname=f"{folder.name}/{path.relative_to(folder).as_posix()}", recursive=False, filter=plain)
print(f"{archive.name}: {archive.stat().st_size // 1024} KiB")
