#!/bin/sh
# Runs targets of the Makefile on the stack that this machine does not take by itself; see tools/bootstrap.sh.
#   tools/other_stack.sh test-quick demo
# Where glibc is older than 2.39, it makes a root of Debian 13 in build/debian-13 (as root, with debootstrap; a minute and
# 1 GB) and runs them there, on TensorFlow 2.21; elsewhere it runs them in build/tensorflow-2.15, with a Python 3.10 of
# this machine's. Both stay, with a .venv each, for the next time. Exits 3 where that cannot be had.
set -eu
CDPATH='' cd "$(dirname "$0")/.."

say() { echo "other stack: $*" >&2; }
lacks() { say "$*"; exit 3; }

copy_to() { # copies the work tree, without what git ignores; the copy's .venv, caches and runs stay, and nothing else.
    mkdir -p "$1"
    find "$1" -mindepth 1 -maxdepth 1 ! -name '.*' ! -name runs -exec rm -rf {} +
    git ls-files --cached --others --exclude-standard -z | xargs -0 ls -d 2>/dev/null | tar -cf - -T - | tar -xf - -C "$1"
}

glibc=$(getconf GNU_LIBC_VERSION)
if [ "${glibc#glibc 2.}" -ge 39 ]; then
    copy_to build/tensorflow-2.15
    export CLIR_STACK=2.15
    say "TensorFlow 2.15 in build/tensorflow-2.15"
    make -C build/tensorflow-2.15 --no-print-directory setup || lacks "TensorFlow 2.15 could not be set up."
    exec make -C build/tensorflow-2.15 --no-print-directory "$@"
fi

root=$PWD/build/debian-13
[ "$(id -u)" = 0 ] || lacks "only root can make and enter a Debian 13 root; this is $(id -un)."
for command in debootstrap unshare; do
    command -v "$command" >/dev/null || lacks "there is no $command; install debootstrap and util-linux."
done

inside() { # inside COMMAND ARGUMENT...: runs a shell's command in the root; the mounts end with the process that makes them.
    unshare --mount sh -euc '
        root=$1
        shift
        mount --rbind /proc "$root/proc"
        mount --rbind /dev "$root/dev"
        exec env -u TMPDIR -u PYTHON -u PYTHONPATH -u VIRTUAL_ENV PATH=/opt/uv/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" sh -euc "$@"
    ' sh "$root" "$@"
}

if [ ! -e "$root/etc/finished" ]; then
    say "making $root; $root.log has what its commands say"
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    certificates=/etc/ssl/certs/ca-certificates.crt
    {
        # With mounts of its own: a killed debootstrap would leave this machine's in the root, for the next rm.
        unshare --mount debootstrap --variant=minbase --include=ca-certificates trixie "$root" &&
            cp /etc/resolv.conf /etc/hosts "$root/etc/" &&
            cp "$certificates" "$root$certificates" &&
            # Python's parts, what builds pyfarmhash, what the Makefile and the tests call, the tests' browser, and uv.
            inside 'apt-get install -y --no-install-recommends python3-venv python3-dev g++ make git procps curl chromium' &&
            inside 'python3 -m venv /opt/uv && /opt/uv/bin/pip install uv'
    } >"$root.log" 2>&1 || lacks "the root could not be made; see $root.log."
    touch "$root/etc/finished"
fi
copy_to "$root/clir"
say "Debian 13 in $root"
inside 'cd /clir && make --no-print-directory "$@"' sh "$@"
