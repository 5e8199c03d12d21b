"""The whole daemon measured from outside: real socket, real processes, a model server in a process of its own.

Each module measures one thing and gives rows; `python -m bench` puts them into one table.
"""
