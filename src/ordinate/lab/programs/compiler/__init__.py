"""The compiler of programs, one stage a file."""
