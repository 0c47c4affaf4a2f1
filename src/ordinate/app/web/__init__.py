"""The local page: runs, a playground, relations and verdicts, on this machine only. `ordinate serve` opens it."""
