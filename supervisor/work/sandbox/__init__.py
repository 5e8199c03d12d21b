"""The limits of a command, enforced by the system: bubblewrap on Linux, seatbelt on macOS.

Turns a policy into the argv that runs inside it. Knows nothing of approvals, and starts nothing but its own probe.
"""
