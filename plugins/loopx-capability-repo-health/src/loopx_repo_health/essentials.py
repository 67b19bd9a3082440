"""Files a reader expects in a repository, by the names they are known under."""

from __future__ import annotations

from fnmatch import fnmatchcase

# Patterns are matched without regard to case, folder by folder: `*` does not cross a slash.
ESSENTIALS: dict[str, tuple[str, ...]] = {
    "licence": (
        "license",
        "license.*",
        "license-*",
        "licence",
        "licence.*",
        "licence-*",
        "copying",
        "copying.*",
        "unlicense",
        "unlicense.*",
        "licenses/*",
    ),
    "readme": ("readme", "readme.*", ".github/readme", ".github/readme.*", "docs/readme", "docs/readme.*"),
    "ci": (
        ".github/workflows/*.yml",
        ".github/workflows/*.yaml",
        ".gitea/workflows/*.yml",
        ".gitea/workflows/*.yaml",
        ".forgejo/workflows/*.yml",
        ".forgejo/workflows/*.yaml",
        ".gitlab-ci.yml",
        ".gitlab-ci.yaml",
        ".circleci/config.yml",
        ".circleci/config.yaml",
        ".buildkite/*.yml",
        ".buildkite/*.yaml",
        ".woodpecker/*.yml",
        ".woodpecker/*.yaml",
        ".woodpecker.yml",
        ".woodpecker.yaml",
        ".builds/*.yml",
        ".build.yml",
        ".cirrus.yml",
        ".drone.yml",
        ".travis.yml",
        ".zuul.yaml",
        "zuul.yaml",
        ".appveyor.yml",
        "appveyor.yml",
        "azure-pipelines.yml",
        "azure-pipelines.yaml",
        "bitbucket-pipelines.yml",
        "jenkinsfile",
    ),
}
_SPLIT = {kind: [pattern.split("/") for pattern in patterns] for kind, patterns in ESSENTIALS.items()}
_DEPTH = max(len(parts) for patterns in _SPLIT.values() for parts in patterns)


def kinds_of(path: str) -> list[str]:
    """Return which essentials the file at `path` is."""
    parts = path.lower().split("/")
    if len(parts) > _DEPTH:
        return []
    return [kind for kind, patterns in _SPLIT.items() if any(_fits(parts, pattern) for pattern in patterns)]


def _fits(parts: list[str], pattern: list[str]) -> bool:
    return len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern))
