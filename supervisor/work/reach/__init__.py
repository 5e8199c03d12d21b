"""Reach: the files that a turn may read and write, and those that a program outside every sandbox would obey.

The only owner of that question, for our own agent, third-party agents and their git alike. Looks at disks; changes
nothing but an agent's own home.
"""
