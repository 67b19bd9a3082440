"""``python -m loopx_recall``."""

from __future__ import annotations

from loopx_recall.cli import main

raise SystemExit(main())
