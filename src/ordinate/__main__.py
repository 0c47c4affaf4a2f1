"""`python -m ordinate` is the command `ordinate`."""

import sys

from ordinate.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
