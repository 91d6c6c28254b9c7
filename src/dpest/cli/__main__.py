"""python -m dpest.cli"""

import sys

from dpest.cli import main

sys.exit(main())
