"""What the part of a report that `recall` fills is called; the command and `render` both know it."""

from __future__ import annotations

NOTES_SECTION, NOTES_FEATURE = "related-notes", "related_notes"
