"""The top help, a constant: it is shown without importing anything else (a test compares it with the routes)."""

TOP_HELP = """\
usage: loopx <command> [options]

loopx installs, proves and runs extensions: providers that answer one JSON request in one bounded process.
Every command that changes something only says what it would do until --execute is given.

commands:
  extension install   trust one manifest after its doctor proved the provider
  extension list      list installed extensions and whether each is ready
  extension show      show manifest, proof, revisions and history of one extension
  extension doctor    probe an extension and record the proof
  extension run       run one request in one bounded process

options of every command:
  --format text|json  text (default) or json: one document on standard output, for errors too
  --state-file PATH   use this activation state file
  --runtime-root DIR  use this directory instead of the platform's state directory
  --debug             show a traceback when loopx itself fails
  --help, --version

example:
  loopx extension run loopx-text-stats --input-json request.json --execute
"""
