"""The two markers of pluggy under the name of this project."""

from __future__ import annotations

from pluggy import HookimplMarker, HookspecMarker

PROJECT = "loopx"

hookspec = HookspecMarker(PROJECT)
hookimpl = HookimplMarker(PROJECT)
