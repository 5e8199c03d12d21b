"""The filter of system calls for every sandboxed command: classic BPF, as seccomp(2) describes it.

It refuses calls that mounts and namespaces do not cover: sockets of other programs, which work even through a
read-only mount; the kernel's keyrings; leases, by which a reader of a file keeps all others from opening it; files
that run as their owner when another user starts them; and user namespaces, in which a process may make system calls
meant for administrators. Decides by numbers alone; a filter sees no path.
"""

import errno
import functools
import socket
import struct
from collections.abc import Iterator

from msgspec import Struct

AF_NETLINK = 16  # socket.AF_NETLINK exists on Linux only; names and routes of the own namespace
NETWORK = (socket.AF_INET, socket.AF_INET6, AF_NETLINK)
CONNECTED = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)  # a pair of these can't be connected to other sockets
KIND = 0xF  # the kind of a socket; the bits above are flags
SET_ID = 0o6000
SETLEASE = 1024  # a command of fcntl
NEW_USER = 0x10000000  # CLONE_NEWUSER
CREATES = 0x40 | 0x400000  # O_CREAT, and O_TMPFILE without O_DIRECTORY: only with these does open read a mode
X32 = 0x40000000  # on x86_64 the numbers from here on are a second set of the same calls

LOAD, MASK, JUMP_EQ, JUMP_GE, JUMP_ANY, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCH, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
ALLOW, ERROR, KILL = 0x7FFF0000, 0x00050000, 0x80000000
REFUSE = ERROR | errno.EPERM
UNKNOWN = ERROR | errno.ENOSYS  # callers fall back to the older call, whose arguments can be read

Step = tuple[int, int, int, int]


class SyscallNumbers(Struct, frozen=True):
    """A processor's call numbers. `modes`: call -> the argument with a mode; `opens`: call -> flags and mode."""

    arch: int
    socket: int
    socketpair: int
    keyrings: tuple[int, ...]
    fcntl: int
    namespaces: tuple[int, ...]  # clone and unshare, whose first argument tells which namespaces
    modes: dict[int, int]
    opens: dict[int, tuple[int, int]]
    links: tuple[int, ...]  # symlink, symlinkat, mknod, mknodat


# The same on all processors: they came after the numbers had been unified. io_uring would bypass every filter.
IO_URING_SETUP, CLONE3, OPENAT2, FCHMODAT2 = 425, 435, 437, 452
CALLS = {
    "x86_64": SyscallNumbers(
        arch=0xC000003E,
        socket=41,
        socketpair=53,
        keyrings=(248, 249, 250),
        fcntl=72,
        namespaces=(56, 272),
        modes={
            85: 1,
            90: 1,
            91: 1,
            133: 1,
            259: 2,
            268: 2,
            FCHMODAT2: 2,
        },  # creat chmod fchmod mknod mknodat fchmodat
        opens={2: (1, 2), 257: (2, 3)},
        links=(88, 266, 133, 259),
    ),
    "aarch64": SyscallNumbers(
        arch=0xC00000B7,
        socket=198,
        socketpair=199,
        keyrings=(217, 218, 219),
        fcntl=25,
        namespaces=(220, 97),
        modes={33: 2, 52: 1, 53: 2, FCHMODAT2: 2},  # mknodat fchmod fchmodat
        opens={56: (2, 3)},
        links=(36, 33),
    ),
}


@functools.cache
def filter_program(machine: str, *, unix_sockets: bool = False, links: bool = True) -> bytes | None:
    """Return the filter; None for an unknown processor. `unix_sockets`: some were opened by name.

    Without `links` the command can make no links and no special files: in a repository's folder git, run by the user
    later, would write through them.
    """
    calls = CALLS.get(machine)
    if calls is None:
        return None
    steps = [
        (LOAD, 0, 0, ARCH),
        (JUMP_EQ, 1, 0, calls.arch),
        (RETURN, 0, 0, KILL),  # other architectures number their calls differently
        (LOAD, 0, 0, NUMBER),
        (JUMP_GE, 0, 1, X32),
        (RETURN, 0, 0, REFUSE),
    ]
    shut = () if links else ((calls.links, [(RETURN, 0, 0, REFUSE)]),)
    for numbers, decision in (*shut, *_decisions(calls, unix_sockets=unix_sockets)):
        for number in numbers:
            steps += _if_equal(number, decision)
    steps.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _decisions(calls: SyscallNumbers, *, unix_sockets: bool) -> Iterator[tuple[tuple[int, ...], list[Step]]]:
    """Yield groups of calls, each with the steps that decide about it and return."""
    yield (IO_URING_SETUP, *calls.keyrings), [(RETURN, 0, 0, REFUSE)]
    yield (OPENAT2, CLONE3), [(RETURN, 0, 0, UNKNOWN)]  # their mode and flags lie in memory
    yield calls.namespaces, _refuse_bits(0, NEW_USER)
    yield (calls.fcntl,), [_argument(1), (JUMP_EQ, 0, 1, SETLEASE), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    families = [_argument(0)]
    for family in NETWORK:
        families += _if_equal(family, [(RETURN, 0, 0, ALLOW)])
    pair = [_argument(0), (JUMP_EQ, 1, 0, socket.AF_UNIX), (RETURN, 0, 0, REFUSE), *_connected_kinds()]
    if unix_sockets:
        families += _if_equal(socket.AF_UNIX, list(_connected_kinds()))
    yield (calls.socket,), [*families, (RETURN, 0, 0, REFUSE)]
    yield (calls.socketpair,), pair
    for number, mode in calls.modes.items():
        yield (number,), _refuse_bits(mode, SET_ID)
    for number, (flags, mode) in calls.opens.items():
        yield (
            (number,),
            [_argument(flags), (JUMP_ANY, 1, 0, CREATES), (RETURN, 0, 0, ALLOW), *_refuse_bits(mode, SET_ID)],
        )


def _connected_kinds() -> Iterator[Step]:
    yield from (_argument(1), (MASK, 0, 0, KIND))
    for kind in CONNECTED:
        yield from _if_equal(kind, [(RETURN, 0, 0, ALLOW)])
    yield (RETURN, 0, 0, REFUSE)


def _refuse_bits(argument: int, bits: int) -> list[Step]:
    return [_argument(argument), (JUMP_ANY, 0, 1, bits), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]


def _if_equal(value: int, then: list[Step]) -> list[Step]:
    return [(JUMP_EQ, 0, len(then), value), *then]


def _argument(index: int) -> Step:
    """Load the lower half of an argument: all of an int, as both processors are little-endian."""
    return (LOAD, 0, 0, ARGUMENTS + 8 * index)
