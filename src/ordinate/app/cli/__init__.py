"""The command line: one file a command. `ordinate --help` names them all.

Modules that hold a command import only what is light; a command imports torch, rich or matplotlib when it runs,
so that help and errors come at once.
"""
