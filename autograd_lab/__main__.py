"""`python -m autograd_lab` does what the console script `autograd-lab` does."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
