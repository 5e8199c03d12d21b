"""The limits of a command, enforced by the system: bubblewrap on Linux, seatbelt on macOS.

Turns a policy into the argv that runs inside it. Knows nothing of approvals, and starts nothing but its own probe.
"""

from supervisor.agent.sandbox.confined import Availability, Confined
from supervisor.agent.sandbox.protection import Protection
from supervisor.agent.sandbox.roots import Roots
from supervisor.agent.sandbox.sandbox import Sandbox

__all__ = ["Availability", "Confined", "Protection", "Roots", "Sandbox"]
