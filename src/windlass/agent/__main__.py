"""The agent as a program: `python -m windlass.agent NODE_FILE`, or the zipapp.

Must not do anything else.
"""

from __future__ import annotations

import sys

from windlass.agent.main import main

sys.exit(main())
