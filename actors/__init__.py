"""The owners of state: the vocabulary, the functional cores, and the actors that are thin shells round them.

Nothing in here opens a file or a socket, or starts a process; ports.py names the services that it needs for that.
"""
