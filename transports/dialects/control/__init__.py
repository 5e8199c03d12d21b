"""Our own API over the socket: what the command line uses, and whoever writes another client.

`params` and `results` say its shapes, `methods` its table, `dialect` speaks it.
"""
