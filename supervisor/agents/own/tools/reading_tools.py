"""The tools read_file, list_dir and view_image. They need no approval: any sandboxed command could look, too."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import ClassVar

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.items import ImageItem
from actors.vocabulary.settings import Settings
from supervisor.agents.own.model.request import ToolSpec
from supervisor.agents.own.tools import reading_specs as specs
from supervisor.agents.own.tools.arguments import ListArguments, ReadArguments, ViewArguments, parse_arguments
from supervisor.agents.own.tools.file_call import FileCall, LookResult
from supervisor.agents.own.tools.tool_result import ToolResult
from supervisor.agents.own.tools.toolbox import Tool
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.agents.picture_support import sees_no_pictures
from supervisor.config.bounds import Bounds
from supervisor.disk.ordinary_files import NotReadable
from supervisor.loop.worker_job import WorkerJob, in_worker
from supervisor.work.files.listing import list_folder
from supervisor.work.files.pages import read_page
from supervisor.work.files.pictures import NoPicture, picture_of
from supervisor.work.reach.readable import Reach
from supervisor.work.sandbox.sandbox import Sandbox


def reading_tools(sandbox: Sandbox) -> tuple[Tool, ...]:
    return ReadFileTool(sandbox), ListDirTool(sandbox), ViewImageTool(sandbox)


class ReadFileTool(Struct, frozen=True):
    names: ClassVar = frozenset({specs.READ_FILE})
    only_reads: ClassVar = True
    sandbox: Sandbox

    def spec(self, _: Settings) -> ToolSpec | None:
        return specs.READ

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        arguments = parse_arguments(ReadArguments, call.arguments, work.bounds)
        words = [specs.READ_FILE, arguments.path, *([str(arguments.offset)] if arguments.offset > 1 else ())]
        name = PurePath(arguments.path).name or arguments.path
        hint = ev.CommandHint(cmd=" ".join(words), purpose="reads", name=name)
        return await FileCall(self.sandbox, work, call).look(words, hint, partial(_page, arguments, work.bounds))


def _page(arguments: ReadArguments, bounds: Bounds, job: WorkerJob, reach: Reach) -> LookResult:
    lines = min(arguments.limit or bounds.read_lines, bounds.read_lines)
    with reach.file(arguments.path) as (file, real):
        try:
            page = read_page(file, arguments.offset, lines, bounds.read_bytes, job.go_on)
        except NotReadable as error:
            raise NotReadable(f"{arguments.path}: {error}") from None
        except OSError as error:
            raise NotReadable(f"{arguments.path} can't be read: {error.strerror}") from None
    more = f"[the file goes on: read from offset {page.last + 1}]\n" if page.ends_early else ""
    return LookResult(f"{reach.display_path(real)}: {page.extent}\n{page.text}{more}", page.extent)


class ListDirTool(Struct, frozen=True):
    names: ClassVar = frozenset({specs.LIST_DIR})
    only_reads: ClassVar = True
    sandbox: Sandbox

    def spec(self, _: Settings) -> ToolSpec | None:
        return specs.LIST

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        arguments = parse_arguments(ListArguments, call.arguments, work.bounds)
        words = [specs.LIST_DIR, arguments.path]
        hint = ev.CommandHint(cmd=" ".join(words), purpose="lists", path=arguments.path)
        return await FileCall(self.sandbox, work, call).look(words, hint, partial(_listing, arguments, work.bounds))


def _listing(arguments: ListArguments, bounds: Bounds, job: WorkerJob, reach: Reach) -> LookResult:
    found = list_folder(reach, arguments.path, arguments.depth, bounds.list_entries, job.go_on)
    names = _fitting(found.names, bounds.read_bytes)
    left_out = found.left_out + len(found.names) - len(names)
    notes = [f"[{folder} can't be listed]" for folder in found.unread]
    if left_out or found.unseen:
        least = "at least " * found.unseen
        notes.append(f"[{least}{left_out} more names: list a folder of them, or use grep with a glob]")
    extent = f"{len(names)} names" if not left_out else f"{len(names)} names of more"
    return LookResult("\n".join((*names, *notes)) or "[the directory is empty]", extent)


def _fitting(names: Sequence[str], max_bytes: int) -> list[str]:
    fitting, size = list[str](), 0
    for name in names:
        size += len(name.encode()) + 1
        if size > max_bytes:
            break
        fitting.append(name)
    return fitting


class ViewImageTool(Struct, frozen=True):
    names: ClassVar = frozenset({specs.VIEW_IMAGE})
    only_reads: ClassVar = True
    sandbox: Sandbox

    def spec(self, settings: Settings) -> ToolSpec | None:
        return None if sees_no_pictures(settings.model) else specs.VIEW

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        path = parse_arguments(ViewArguments, call.arguments, work.bounds).path
        looking = FileCall(self.sandbox, work, call)
        if sees_no_pictures(work.settings.model):
            return looking.refuse(f"the model {work.settings.model} can't see pictures")
        try:
            picture, real = await in_worker(_picture, path, looking.reach, work.bounds)
        except NotReadable as error:
            return looking.refuse(str(error))
        subject = ev.PictureSubject(path=real)
        work.say(
            ev.WorkEnded(call_id=call.call, item_id=call.item, kind="picture", subject=subject, status="completed")
        )
        return ToolResult(f"the picture {path} is in a message behind this one", pictures=(picture,))


def _picture(job: WorkerJob, path: str, reach: Reach, bounds: Bounds) -> tuple[ImageItem, Path]:
    with reach.file(path) as (file, real):
        job.go_on()
        try:
            data = file.read(bounds.picture_bytes + 1)
        except OSError as error:
            raise NotReadable(f"{path} can't be read: {error.strerror}") from None
    job.go_on()
    if len(data) > bounds.event_bytes // 2:  # as text it takes a third more, and a longer event loses its middle
        raise NotReadable(bounds.describe_excess("event_bytes", f"the picture {path} is larger than half an event"))
    try:
        return ImageItem(image_url=picture_of(data, path, bounds)), real
    except NoPicture as error:
        raise NotReadable(str(error)) from None
