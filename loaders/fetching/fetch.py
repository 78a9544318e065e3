"""All files of a download source, into the place where loaders look.

While files are missing the folder holds a hidden note (:data:`loaders.find.UNFINISHED`), so that no
loader takes half a corpus for a whole one, and a lock, so that two runs do not write the same file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from coherencegym.files.checksums import sha256_of
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.fetching.download import Link, StoppedError, download, open_link
from coherencegym.loaders.fetching.download_source import PUBLIC, DownloadSource, RemoteFile
from coherencegym.loaders.find import UNFINISHED

#: A function from the number of bytes to come to a context, in which a function is told how many
#: came.
Progress = Callable[[int], AbstractContextManager[Callable[[int], object]]]


@dataclass(frozen=True, slots=True)
class Survey:
    """The files of a download source that a folder has, lacks, or has with other content."""

    there: tuple[RemoteFile, ...]
    missing: tuple[RemoteFile, ...]
    differing: tuple[RemoteFile, ...]


def survey(source: DownloadSource, folder: Path) -> Survey:
    """Look at the files of a download source in a folder, by size and then by digest."""
    there, missing, differing = list[RemoteFile](), list[RemoteFile](), list[RemoteFile]()
    for file in source.files:
        path = folder / file.path
        try:
            if not path.exists() and not path.is_symlink():
                missing.append(file)
                continue
            same_size = path.is_file() and path.stat().st_size == file.size
            (there if same_size and sha256_of(path) == file.sha256 else differing).append(file)
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error
    return Survey(tuple(there), tuple(missing), tuple(differing))


def fetch_source(
    source: DownloadSource,
    folder: Path,
    *,
    base: str = PUBLIC,
    jobs: int = 4,
    overwrite: bool = False,
    progress: Progress = lambda total: nullcontext(lambda count: None),
    sleep: Callable[[float], object] | None = None,
    timeout: float = 30.0,
) -> Survey:
    """Fetch what a folder has not got of a download source; what it had, as a survey from before.

    Args:
        source: the source to fetch from.
        folder: the folder that it goes into, under the paths of the repository; made if need be.
        base: the public server or a mirror of it.
        jobs: the number of files at a time.
        overwrite: replace files that have other content.
        progress: shows what came.
        sleep: waits so many seconds before a file is tried again; none: really.
        timeout: seconds without an answer before trying again.

    Raises:
        CorpusError: a file in the folder is another one and may not be overwritten, it cannot be
            written there, another run is at work there, or a download fails. What came by then is
            kept for the next run.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".fetch.lock", timeout=0):
            before = survey(source, folder)
            if before.differing and not overwrite:
                raise _not_replaced(source, folder, before.differing)
            wanted = {*before.missing, *before.differing}
            todo = [file for file in source.files if file in wanted]
            note = folder / UNFINISHED
            if todo:
                note.write_text(f"coherencegym corpora fetch {source.name}\n", encoding="utf-8")
                with (
                    progress(sum(file.size for file in todo)) as advance,
                    open_link(base, advance, sleep, timeout) as link,
                ):
                    _fetch_all(link, source, folder, todo, jobs)
            note.unlink(missing_ok=True)
            return before
    except Timeout as error:
        raise CorpusError(
            f"{folder}: another run is fetching into this folder; wait for it to end"
        ) from error
    except OSError as error:
        raise CorpusError(f"{folder}: cannot be written ({error.strerror or error})") from error


def _not_replaced(
    source: DownloadSource, folder: Path, differing: Sequence[RemoteFile]
) -> CorpusError:
    first, *others = differing
    path = folder / first.path
    found = f"sha256 {sha256_of(path)}" if path.is_file() else "no regular file"
    also = f" (and {len(others)} more files)" if others else ""
    return CorpusError(
        f"{path}{also}: is there with other content than at commit {source.commit[:12]}: "
        f"{found}, expected {first.sha256}; move it away, or pass --overwrite to replace it"
    )


def _fetch_all(
    link: Link, source: DownloadSource, folder: Path, todo: list[RemoteFile], jobs: int
) -> None:
    from multiprocessing.pool import ThreadPool

    def one(file: RemoteFile) -> None:
        try:
            download(link, source.url(file, link.base), file, folder / file.path)
        except StoppedError:
            pass  # another file failed, and says why
        except BaseException:
            link.stop.set()
            raise

    # Its threads are daemons: Ctrl-C does not wait for a server that is silent.
    pool = ThreadPool(min(jobs, len(todo)))
    try:
        for _ in pool.imap_unordered(one, todo):
            pass
    except CorpusError:
        pool.close()
        pool.join()  # what the others have begun ends at its next chunk
        raise
    finally:
        link.stop.set()
        pool.terminate()
