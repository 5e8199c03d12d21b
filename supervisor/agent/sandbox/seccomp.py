"""A filter against reaching out through a socket file. The bytes are classic BPF, as seccomp(2) describes it.

A network namespace separates all networks, but a unix socket in the file system is a file, and may be connected to
through a read-only mount: the user's session bus or a terminal multiplexer would run anything for who asks there.
So sockets are for the (empty) network only; pairs of connected ones still work, and so does loopback.
"""

import errno
import socket
import struct

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NR_SOCKET = {"x86_64": 41, "aarch64": 198}
NR_IO_URING_SETUP = 425  # it opens sockets past every filter
X32 = 0x40000000  # numbers from here on are a second set of the same calls, on x86_64
AF_NETLINK = 16  # socket.AF_NETLINK exists on Linux only; names and routes of the own namespace
ALLOWED = (socket.AF_INET, socket.AF_INET6, AF_NETLINK)

LOAD, JUMP_EQ, JUMP_GE, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCH, FIRST_ARGUMENT = 0, 4, 16  # where struct seccomp_data has them
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000


def no_outside_sockets(machine: str) -> bytes | None:
    """None for a processor whose numbers we don't have."""
    if machine not in AUDIT_ARCH:
        return None
    families = len(ALLOWED)
    program = [
        (LOAD, 0, 0, ARCH),
        (JUMP_EQ, 1, 0, AUDIT_ARCH[machine]),
        (RETURN, 0, 0, KILL),  # another architecture's calls have other numbers
        (LOAD, 0, 0, NUMBER),
        (JUMP_GE, families + 3, 0, X32),
        (JUMP_EQ, families + 2, 0, NR_IO_URING_SETUP),
        (JUMP_EQ, 0, families + 2, NR_SOCKET[machine]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        *((JUMP_EQ, families - index, 0, family) for index, family in enumerate(ALLOWED)),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in program)
