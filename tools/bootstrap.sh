#!/bin/sh
# Makes .venv: the packages of a lock, and this project installed editable. Silent and instant when nothing changed.
#   CLIR_STACK=2.15   take the packages around TensorFlow 2.15 (Python 3.10), or 2.21 (Python 3.12 or 3.13, glibc 2.39)
#   CLIR_LOCK=gpu     take the lock with the GPU's libraries
#   PYTHON=/a/python  a Python to try before those on PATH
set -eu
CDPATH='' cd "$(dirname "$0")/.."

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }

case ${CLIR_STACK:-} in
'' | 2.15 | 2.21) ;;
*) die "CLIR_STACK must be 2.15, 2.21 or unset; got '$CLIR_STACK'." ;;
esac
case ${CLIR_LOCK:-} in
'') suffix='' ;;
gpu) suffix=-gpu ;;
*) die "CLIR_LOCK must be gpu or unset; got '$CLIR_LOCK'." ;;
esac

# The path counts too: the scripts in .venv name it, so a moved checkout needs new ones.
stamp() { { pwd; cat "locks/$1$suffix.lock" pyproject.toml setup.py; } | cksum; }
stamped() { [ "$(cat .venv/stamp 2>/dev/null)" = "$1" ]; }
finished() {
    [ -x .venv/bin/python ] && [ -x .venv/bin/clir ] || return 1
    for candidate in ${CLIR_STACK:-2.15 2.21}; do
        if stamped "$(stamp "$candidate")"; then return 0; fi
    done
    return 1
}
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

uv=false
minutes='3 to 13 minutes; 1 or 2 if uv is on PATH'
if uv --version >/dev/null 2>&1; then uv=true minutes='1 or 2 minutes'; fi

# ml-metadata and TFDV of the stack 2.21 are built for glibc 2.39.
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc='no glibc'
minor=${glibc#glibc 2.}
if [ "$minor" -ge 39 ] 2>/dev/null; then fitting='2.21 2.15'; else fitting=2.15; fi
stacks=${CLIR_STACK:-$fitting}
case " $fitting " in
*" $stacks "* | *" $stacks") ;;
*) die "CLIR_STACK=2.21 needs glibc 2.39, which Debian 13 and Ubuntu 24.04 have; this machine has $glibc." ;;
esac

# Candidates are run, not looked up: a version manager's shim or a dangling link may be there and not answer. The real
# path, because a candidate may be a link in the very .venv that is about to be removed.
probe='import os, sys; print("%d.%d " % sys.version_info[:2] + os.path.realpath(sys.executable))'
unfit=
runs() { # runs STACKS COMMAND...: whether this is a Python of one of these stacks.
    wanted=$1
    shift
    answer=$("$@" -c "$probe" 2>/dev/null) || return 1
    version=${answer%% *} python=${answer#* }
    case $version in
    3.10) stack=2.15 ;;
    3.12 | 3.13) stack=2.21 ;;
    *) stack=none ;;
    esac
    case " $wanted " in *" $stack "*) return 0 ;; esac
    case $unfit in *"$python"*) ;; *) unfit="${unfit:+$unfit, }$version at $python" ;; esac
    return 1
}
pythons() { case $1 in 2.15) echo 3.10 ;; 2.21) echo 3.13 3.12 ;; esac; }
present() { # present STACK: finds a Python of it on PATH, under pyenv or among uv's.
    for number in $(pythons "$1"); do
        if runs "$1" "python$number" || runs "$1" env "PYENV_VERSION=$number" "python$number"; then return 0; fi
    done
    if runs "$1" python3; then return 0; fi
    for number in $(pythons "$1"); do if uv_has "$1" "$number"; then return 0; fi; done
    return 1
}
uv_has() { $uv && where=$(uv python find --no-project "$2" 2>/dev/null) && runs "$1" "$where"; }
fetched() { # fetched STACK: lets uv fetch its newest Python.
    newest=$(pythons "$1") && newest=${newest%% *}
    $uv && uv python install "$newest" >>"$log" 2>&1 && uv_has "$1" "$newest"
}
first() { # first HOW: finds a Python for the first stack that has one this way.
    for candidate in $stacks; do if "$1" "$candidate"; then return 0; fi; done
    return 1
}

# A .venv whose stamp says unfinished was interrupted and may hold half a package; if its `activate` does not name this
# path, it was moved or half made. Such a .venv is made anew; any other keeps its stack and is brought up to date.
doing='making .venv'
if ! stamped unfinished && grep -qF "$PWD/.venv" .venv/bin/activate 2>/dev/null && runs "$stacks" .venv/bin/python; then
    doing='bringing .venv up to date' minutes="seconds; if much changed, $minutes"
elif ! { { [ -n "${PYTHON:-}" ] && runs "$stacks" "$PYTHON"; } || first present || first fetched; }; then
    for number in 3.13 3.12 3.10; do runs '' "python$number" || :; done # those of other stacks, for the message
    case $stacks in 2.15) needed=3.10 ;; 2.21) needed='3.12 or 3.13' ;; *) needed='3.12, 3.13 or 3.10' ;; esac
    if $uv; then uv_says='uv could not fetch one'; else uv_says='there is no uv'; fi
    die "Python $needed is needed (this machine has $glibc); found ${unfit:-no Python}, and $uv_says: install" \
        "Python $needed or uv, or set PYTHON=/path/to/a/python."
fi
case "$stack of $fitting" in
"2.15 of 2.15") why=", because 2.21 needs glibc 2.39 and this machine has $glibc" ;;
2.15*) why=", because this is Python 3.10; CLIR_STACK=2.21 takes 2.21, for Python 3.12 or 3.13" ;;
*) why= ;;
esac
case $stack$suffix in 2.15) size=3.5 ;; 2.21) size=4.4 ;; 2.15-gpu) size=6.8 ;; 2.21-gpu) size=8.9 ;; esac
lock=locks/$stack$suffix.lock

# A package of TFDV's is published as source alone.
headers='import os, sysconfig; raise SystemExit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
if ! { command -v c++ && "$python" -c "$headers"; } >/dev/null 2>&1; then
    die "a C++ compiler and the headers of $python are needed, to build pyfarmhash: on Debian and Ubuntu, install" \
        "g++ and python3-dev."
fi

say "$doing from $lock with $python: TensorFlow $stack$why (up to $size GB; $minutes)."
if [ "$doing" = 'making .venv' ]; then
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
rm .venv/stamp # the packages are whole: a fault in setup.py or pyproject.toml must not cost them
step "install this project" .venv/bin/python -m pip install --no-deps --no-build-isolation -e .
stamp "$stack" >.venv/stamp
say "done; \`source .venv/bin/activate\` puts clir on PATH."
