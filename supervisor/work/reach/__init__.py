"""Reach: what a turn may read and write, and what a program outside of every sandbox would obey of what it writes.

One owner of that question for our own agent, third-party agents and their git alike. Looks at disks, changes nothing.
"""
