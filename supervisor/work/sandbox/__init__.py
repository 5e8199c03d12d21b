"""The limits of a command, enforced by the system: bubblewrap on Linux, seatbelt on macOS.

Turns a policy and a command into the argv that runs it confined. Knows nothing of approvals, and starts nothing but
its own probe.
"""
