"""Our own API over the socket: for the command line and for other clients.

`params` and `results` define its shapes, `methods` its table, `dialect` speaks it.
"""
