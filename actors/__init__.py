"""The owners of state: the vocabulary, the functional cores, and the actors that are thin shells round them.

Nothing in here opens a file or a socket, or starts a process; what it needs from below is named in ports.py.
"""
