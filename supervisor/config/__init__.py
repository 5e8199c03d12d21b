"""The configuration: found, read, checked and layered once, then a frozen value for everybody else.

Knows nothing of daemons or clients. Everything here is safe from any thread; only `load` and `derive` touch the disk.
"""
