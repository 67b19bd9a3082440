"""The bounds of the contract (section 6) in one place; sizes in bytes, times in seconds."""

MANIFEST_BYTES = 256 * 1024
SCHEMA_BYTES = 256 * 1024
PROFILE_BYTES = 64 * 1024
REQUEST_BYTES = 1_000_000
STDOUT_BYTES = 1_000_000
STDERR_BYTES = 1_000_000
STDERR_TAIL_BYTES = 4 * 1024
EXPORT_BYTES = 1024 * 1024
STATE_BYTES = 32 * 1024 * 1024

DEPTH = 64
INTEGER_DIGITS = 4300

TIMEOUT_DEFAULT_SECONDS = 30
TIMEOUT_MAX_SECONDS = 120
TERMINATE_GRACE_SECONDS = 1.0
LOCK_WAIT_SECONDS = 5.0

OPEN_FILES_DEFAULT = 1024
HISTORY_ENTRIES = 50
HOST_API = 1
FILE_SIZE_MB = 1024  # each file a provider writes
PLUGIN_LOAD_SECONDS = 10.0
PLUGIN_HOOK_SECONDS = 5.0
PLUGIN_OUTPUT_BYTES = 64 * 1024  # what a package prints while it is loaded or called
PLUGIN_ANSWER_BYTES = 1_000_000
SCOPE_BYTES = 16_384  # the scope of an execution envelope, in canonical JSON
PROCESSES_ADDED = 512  # processes and threads a provider may add to those that are there
# Where programs are looked for when nothing else was kept: by order, and the same for every caller.
SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
