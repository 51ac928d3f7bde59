#!/bin/sh
# Makes .venv: the packages of the lock, and this project installed editable. Silent and instant when nothing changed.
#   CLIR_LOCK=gpu     take requirements-gpu.lock instead of requirements.lock
#   PYTHON=/a/python  a Python 3.10 to try before those on PATH
set -eu
CDPATH='' cd "$(dirname "$0")/.."

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }

case ${CLIR_LOCK:-} in
'') lock=requirements.lock size='2.6 GB' ;;
gpu) lock=requirements-gpu.lock size='5.4 GB' ;;
*) die "CLIR_LOCK must be gpu or unset; got '$CLIR_LOCK'." ;;
esac

# The path counts too: the scripts in .venv name it, so a moved checkout needs new ones.
stamp=$({ pwd; cat "$lock" pyproject.toml setup.py; } | cksum)
stamped() { [ "$(cat .venv/stamp 2>/dev/null)" = "$1" ]; }
finished() { stamped "$stamp" && [ -x .venv/bin/python ] && [ -x .venv/bin/clir ]; }
if finished; then exit 0; fi

# One setup at a time. The kernel frees this lock even after kill -9, once the installer it left behind has ended too.
log=.venv.log
exec 9>>"$log"
if command -v flock >/dev/null; then
    flock -n 9 || { say "another setup is at work here; waiting for it."; flock 9; }
    if finished; then exit 0; fi
fi
: >"$log"

step() { # step WHAT COMMAND...: runs it into the log; shows the log's end if it fails.
    what=$1
    shift
    "$@" >>"$log" 2>&1 || {
        code=$?
        tail -n 20 "$log" >&2
        die "could not $what (exit $code); the lines above end $log; mend the cause and run this again."
    }
}

# Candidates are run, not looked up: a version manager's shim or a dangling link may be there and not answer. The real
# path, because a candidate may be a link in the very .venv that is about to be removed.
probe='import os, sys; print("%d.%d " % sys.version_info[:2] + os.path.realpath(sys.executable))'
found=
is_310() {
    answer=$("$@" -c "$probe" 2>/dev/null) || answer=none
    case $answer in
    '3.10 '*) python=${answer#* } ;;
    *) found="$found, $*: ${answer%% *}" && return 1 ;;
    esac
}
uv_python() { python=$(uv python find --no-project 3.10 2>/dev/null) && is_310 "$python"; }
find_310() {
    { [ -n "${PYTHON:-}" ] && is_310 "$PYTHON"; } || is_310 python3.10 || is_310 env PYENV_VERSION=3.10 python3.10 ||
        is_310 python3 || { $uv && { uv_python || { uv python install 3.10 >>"$log" 2>&1 && uv_python; }; }; }
}

uv=false
minutes='2 to 4 minutes; 15 s to 1 minute if uv is on PATH'
if uv --version >/dev/null 2>&1; then uv=true minutes='15 s to 1 minute'; fi

# A .venv whose stamp says unfinished was interrupted and may hold half a package; one whose `activate` does not name
# this path was moved or half made. Both are made anew; any other is brought up to date in place.
if ! stamped unfinished && grep -qF "$PWD/.venv" .venv/bin/activate 2>/dev/null && is_310 .venv/bin/python; then
    say "bringing .venv up to date with $lock (seconds; if much changed, $minutes)."
else
    find_310 || die "Python 3.10 is needed, the newest that TFX 1.15 runs on; found ${found#, }," \
        "uv: $($uv && echo "no 3.10" || echo none); install Python 3.10 or uv, or set PYTHON=/path/to/python3.10."
    say "making .venv from $lock with $python ($size; $minutes)."
    rm -rf .venv
    if $uv; then
        step "make .venv" uv venv --python "$python" .venv
    else
        step "make .venv" "$python" -m venv .venv
    fi
fi

echo unfinished >.venv/stamp
if $uv; then
    step "install $lock" uv pip sync --python .venv/bin/python --require-hashes "$lock"
else # --no-deps: uv leaves extras out of a lock, and with hashes pip would ask for them
    step "install $lock" .venv/bin/python -m pip install --no-deps --require-hashes -r "$lock"
fi
rm .venv/stamp # the packages are whole: a slip in setup.py or pyproject.toml shall not cost them
step "install this project" .venv/bin/python -m pip install --no-deps --no-build-isolation -e .
echo "$stamp" >.venv/stamp
say "done."
