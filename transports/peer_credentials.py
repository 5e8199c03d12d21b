"""The process at the other end of a unix socket, by the kernel's account. Knows Linux and macOS."""

import socket
import struct
import sys

from msgspec import Struct

_SOL_LOCAL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 0x001, 0x002  # macOS; Python has no names for them
_XUCRED = struct.Struct("=IIh2x16I")  # version, uid, number of groups, groups


class Peer(Struct, frozen=True):
    uid: int
    pid: int | None


def peer_of(sock: socket.socket) -> Peer:
    if sys.platform == "darwin":
        fields = _XUCRED.unpack(sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED.size))
        (pid,) = struct.unpack("=i", sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID, 4))
        return Peer(uid=fields[1], pid=pid or None)
    size = struct.calcsize("=iII")
    pid, uid, _ = struct.unpack("=iII", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return Peer(uid=uid, pid=pid or None)
