"""`python -m graphs` is the `pointstamp` command."""

import sys

from graphs.command import main

sys.exit(main())
