"""Files that a third-party agent reads and writes through its client, by our own tools' rules. Worker threads."""

from typing import BinaryIO

from actors.vocabulary.settings import DangerFullAccess, SandboxPolicy
from supervisor.agents.acp.failures import AgentRefused
from supervisor.config.bounds import Bounds
from supervisor.disk.ordinary_files import NotReadable
from supervisor.loop.worker_job import WorkerJob
from supervisor.work.patch.apply import apply_plan
from supervisor.work.patch.edits import FileEdit, event_changes
from supervisor.work.patch.effort import Effort
from supervisor.work.patch.errors import PatchMismatch, os_error_text
from supervisor.work.patch.files import FileState, TooLarge, UnfitFile, is_writable, look_at
from supervisor.work.patch.paths import readable_path
from supervisor.work.patch.plan import PatchPlan
from supervisor.work.reach.readable import Reach
from supervisor.work.safety.roots import are_writable
from supervisor.work.sandbox.roots import Roots
from supervisor.work.sandbox.settings_watch import allow_writes

NOT_FOUND, NOT_DONE = -32002, -32603
READ_BYTES = 8 << 20  # of an answer; an agent that wants more asks for lines
SKIPPED_BYTES = 1 << 30  # before the first requested line


def read(job: WorkerJob, reach: Reach, path: str, first: int, lines: int | None) -> str:
    """Return the file's text, or `lines` lines of it from line `first`. Raises Refused."""
    try:
        with reach.file(path) as (file, _):
            found = _skip(job, file, first - 1)
            data = _lines(job, file, lines) if found else b""
    except NotReadable as error:
        missing = not (reach.cwd / path).exists()
        raise AgentRefused(f"{path}: No such file or directory" if missing else error.reason, NOT_FOUND) from None
    except OSError as error:
        raise AgentRefused(f"{path} can't be read: {error.strerror}", NOT_DONE) from None
    if len(data) > READ_BYTES:
        raise AgentRefused(
            f"{path} is longer than {READ_BYTES:,} bytes; ask for a part, by `line` and `limit`", NOT_DONE
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise AgentRefused(f"{path} can't be read as UTF-8", NOT_DONE) from None


def _skip(job: WorkerJob, file: BinaryIO, lines: int) -> bool:
    """Skip so many lines. Tell whether the file goes on after them."""
    skipped = 0
    for _ in range(lines):
        line = file.readline(READ_BYTES)
        skipped += len(line)
        job.go_on()
        if not line or skipped > SKIPPED_BYTES:
            return False
    return True


def _lines(job: WorkerJob, file: BinaryIO, lines: int | None) -> bytes:
    """Return so many lines, or the rest of the file; a byte more than READ_BYTES shows that there is too much."""
    if lines is None:
        return file.read(READ_BYTES + 1)
    data = b""
    for _ in range(max(0, lines)):
        line = file.readline(READ_BYTES + 1)
        data += line
        job.go_on()
        if not line or len(data) > READ_BYTES:
            break
    return data


def plan_write(job: WorkerJob, reach: Reach, path: str, content: str, bounds: Bounds) -> PatchPlan:
    """Plan a write: compare the new content with the file. Raises PatchError."""
    effort = Effort(bounds, job.go_on)
    found = readable_path(path, reach)
    data = content.encode()
    effort.spend_bytes(len(data))
    try:
        before = look_at(found.real, effort.bytes_left)
    except TooLarge as error:
        raise effort.refusal("patch_bytes", str(error)) from None
    except UnfitFile as error:
        raise PatchMismatch(str(error)) from None
    except OSError as error:
        raise PatchMismatch(os_error_text(error)) from None
    if before is not None and before.mode is not None and not is_writable(found.real, before.mode):
        raise PatchMismatch("it is write-protected")
    edit = FileEdit(found, before, FileState(data, before.mode if before else None))
    return PatchPlan((edit,), dict(event_changes((edit,), {}, effort)), "", empty=False)


def insist_on_roots(plan: PatchPlan, policy: SandboxPolicy, roots: Roots, *, approved: bool = False) -> None:
    """Raise PatchMismatch if a command in the sandbox could not write there.

    `approved`: a person has allowed it, because another program would obey the written file.
    """
    if not (isinstance(policy, DangerFullAccess) or approved or are_writable(roots, plan.touched_paths)):
        raise PatchMismatch(f"the conversation's sandbox ({policy.mode}) does not let it be written")


def write(plan: PatchPlan, policy: SandboxPolicy, roots: Roots, umask: int, *, approved: bool = False) -> None:
    """Write the plan under the roots as they are now. Raises PatchError."""
    insist_on_roots(plan, policy, roots, approved=approved)
    with allow_writes(plan.touched_paths):
        apply_plan(plan, umask, {root.path: root.identity() for root in roots.writable})
