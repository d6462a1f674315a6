"""The hostile environments of `environment.py`: each is a line of shell around a command."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

RUN: Final = ("run", "experiment.yaml")
SHOW: Final = ("show", "experiment.yaml")
DENSE: Final = ("run", "dense.yaml")
REPORT: Final = ("report", "experiment.yaml", "-o", "out/report.html")
EXPORT: Final = ("export", "experiment.yaml", "--to", "scores", "-o", "out/scores.csv")

LIBRARY: Final = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static long number(const char *name) { char *v = getenv(name); return v ? atol(v) : 0; }
static void wait_ms(long ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000}; nanosleep(&t, 0); }
int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync"); wait_ms(number("SLOW_SYNC")); return real(fd); }
int fdatasync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync"); wait_ms(number("SLOW_SYNC")); return real(fd); }
int rename(const char *a, const char *b) {
  int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
  wait_ms(number("SLOW_WRITE")); return real(a, b); }
ssize_t write(int fd, const void *b, size_t n) {
  ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  if (fd > 2) wait_ms(number("SLOW_WRITE")); return real(fd, b, n); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) {
  ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  wait_ms(number("SLOW_WRITE")); return real(fd, b, n, o); }
int clock_gettime(clockid_t id, struct timespec *t) {
  static int (*real)(clockid_t, struct timespec *); static struct timespec began;
  if (!real) { real = dlsym(RTLD_NEXT, "clock_gettime"); real(CLOCK_MONOTONIC, &began); }
  int code = real(id, t); struct timespec now; real(CLOCK_MONOTONIC, &now);
  long ms = (now.tv_sec - began.tv_sec) * 1000 + (now.tv_nsec - began.tv_nsec) / 1000000;
  if (id == CLOCK_REALTIME && ms > number("CLOCK_AFTER")) t->tv_sec -= number("CLOCK_BACK");
  return code; }
time_t time(time_t *t) {
  struct timespec now; clock_gettime(CLOCK_REALTIME, &now); if (t) *t = now.tv_sec;
  return now.tv_sec; }
"""
"""Stands for a slow disk and a clock that is set back: it is loaded before the C library."""


@dataclass(frozen=True)
class Row:
    """A hostile environment and a command in it."""

    name: str
    shell: str
    """What starts "$@", the command."""
    arguments: tuple[str, ...] = RUN
    outcome: str = ""
    """"works" or "message", if one of them is right."""
    environment: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    """Variables that are taken away."""
    user: str = ""
    """The number of the user who owns the folder and runs the command."""
    finished: bool = False
    """Whether the store is that of a finished run, not an empty one."""
    printed: bool = True
    """Whether standard output must be that of a clean run."""
    silent: bool = False
    """Whether there may be no message: standard error is closed, or the process was killed."""
    codes: tuple[int, ...] = (1, 2, 3, 4, 5)
    needs: tuple[str, ...] = ()

    @property
    def experiment(self) -> str:
        """The experiment's file."""
        return self.arguments[1]


def reason_not_to_run(row: Row, tools: Path) -> str:
    """Return what a row needs and this machine lacks, or "" after making its library."""
    for need in row.needs:
        if need == "root" and os.geteuid() != 0:
            return "needs root, for a mount"
        if need == "library" and not (tools / "hostile.so").exists():
            if shutil.which("cc") is None:
                return "needs a C compiler"
            (tools / "hostile.c").write_text(LIBRARY)
            make = ["cc", "-shared", "-fPIC", "-w", "-o", "hostile.so", "hostile.c", "-ldl"]
            subprocess.run(make, cwd=tools, check=True)
        if need == "memory of version 2":
            known = Path(UNIFIED, "cgroup.controllers")
            if not known.exists() or "memory" not in known.read_text().split():
                return "needs control groups of version 2 with memory"
        if need.startswith("/") and not os.access(need, os.W_OK):
            return f"needs a writable {need}"
    return ""


def full(folder: str, size: str) -> str:
    """Return the shell for a full disk at a folder; what it holds is kept in the folder."""
    return (
        f"mkdir -p {folder} lost && cp -a {folder}/. lost/ && mount -t tmpfs -o size={size} none "
        f'{folder} && cp -a lost/. {folder}/ 2>/dev/null; "$@"; code=$?; rm -rf lost; '
        f"cp -a {folder} lost; umount {folder}; cp -a lost/. {folder}/; exit $code"
    )


def read_only(folder: str) -> str:
    """Return the shell for a read-only file system at a folder."""
    return (
        f"mkdir -p {folder}; mount --bind {folder} {folder} && "
        f'mount -o remount,bind,ro {folder} && "$@"'
    )


def cgroup(kind: str, file: str, value: str) -> str:
    """Return the shell for a limit of a control group of version 1."""
    group = f"/sys/fs/cgroup/{kind}/hostile-$$"
    return (
        f"mkdir {group} && echo {value} > {group}/{file} && (echo $BASHPID > {group}/tasks; "
        f'exec "$@"); code=$?; sleep .2; rmdir {group}; exit $code'
    )


def cgroup_2(file: str, value: str) -> str:
    """Return the shell for a limit of memory of a control group of version 2."""
    group = f"{UNIFIED}/hostile-$$"
    return (
        f"echo +memory > {UNIFIED}/cgroup.subtree_control; mkdir {group} && "
        f"echo {value} > {group}/{file} && (echo $BASHPID > {group}/cgroup.procs; "
        f'exec "$@"); code=$?; sleep .2; rmdir {group}; exit $code'
    )


def as_user(user: str) -> str:
    """Return the shell that becomes a user who may read everything, and write his own alone."""
    return (
        f"exec setpriv --reuid {user} --regid {user} --clear-groups --inh-caps +dac_read_search "
        '--ambient-caps +dac_read_search "$@"'
    )


UNIFIED: Final = "/sys/fs/cgroup"
"""The control groups of version 2."""
MOUNT: Final = ("root",)
HERE: Final = 'mount --bind . . && cd "$PWD" && '
"""The folder is entered again, since it is else the one below the mount."""
READ_ONLY_HERE: Final = f'{HERE} mount -o remount,bind,ro . && "$@"'
WRITABLE_STORE: Final = (
    f'{HERE} mount --bind store store && mount -o remount,bind,ro "$PWD" && "$@"'
)
NAMELESS: Final = ("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME")
NO_TEMPORARY: Final = (
    'mount -t tmpfs none /mnt; mkdir /mnt/w; mount --bind "$PWD" /mnt/w; cd /mnt/w; '
    "mount -t tmpfs -o ro none /var/tmp; mount -t tmpfs -o ro none /tmp; "
    'mount -o remount,bind,ro /mnt/w; "$@"'
)
LIBRARY_NEEDED: Final = ("library",)
USER: Final = "12345"
PRELOAD: Final = 'LD_PRELOAD="$TOOLS/hostile.so" "$@"'
ASCII: Final = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
ROWS: Final = (
    *(
        Row(f"full disk, {size}", full("store", size), outcome="message", needs=MOUNT)
        for size in ("8k", "64k", "256k")
    ),
    *(
        Row(
            f"disk of {count} files",
            full("store", f"4m,nr_inodes={count}"),
            outcome="message",
            needs=MOUNT,
        )
        for count in (3, 8, 16)
    ),
    Row("full disk: report", full("out", "16k"), REPORT, "message", finished=True, needs=MOUNT),
    Row("full disk: export", full("out", "4k"), EXPORT, "message", finished=True, needs=MOUNT),
    Row(
        "full disk: show",
        full("store", "$(($(du -sk store | cut -f1) + 8))k"),
        SHOW,
        "works",
        finished=True,
        needs=MOUNT,
    ),
    Row("full disk: processes", full("store", "300k"), DENSE, "message", needs=MOUNT),
    *(
        Row(f"files of at most {size} KB", f'ulimit -f {size}; exec "$@"', outcome="message")
        for size in (1, 16, 64)
    ),
    Row("read-only store", read_only("store"), outcome="message", needs=MOUNT),
    Row("read-only store: show", read_only("store"), SHOW, "works", finished=True, needs=MOUNT),
    Row("read-only store: run again", read_only("store"), finished=True, needs=MOUNT),
    Row(
        "store of another user",
        f"chown -R 0 store; chmod -R a-w store; {as_user(USER)}",
        outcome="message",
        user=USER,
        needs=MOUNT,
    ),
    Row(
        "store of another user: show",
        f"chown -R 0 store; chmod -R a-w store; {as_user(USER)}",
        SHOW,
        "works",
        user=USER,
        finished=True,
        needs=MOUNT,
    ),
    Row("read-only data", read_only("data"), outcome="works", needs=MOUNT),
    Row(
        "read-only cache",
        f"mkdir -p home/.cache; export HOME=$PWD/home; {read_only('home/.cache')}",
        outcome="works",
        needs=MOUNT,
    ),
    Row(
        "read-only working folder: show", READ_ONLY_HERE, SHOW, "works", finished=True, needs=MOUNT
    ),
    Row("read-only working folder: run", READ_ONLY_HERE, outcome="message", needs=MOUNT),
    Row("read-only working folder, writable store", WRITABLE_STORE, outcome="works", needs=MOUNT),
    Row(
        "slow disk: 20 ms per write, 100 ms per sync",
        PRELOAD,
        outcome="works",
        environment={"SLOW_WRITE": "20", "SLOW_SYNC": "100"},
        needs=LIBRARY_NEEDED,
    ),
    *(
        Row(
            f"clock set back by {hours} h after {ms / 1000} s",
            PRELOAD,
            outcome="works",
            environment={"CLOCK_BACK": str(hours * 3600), "CLOCK_AFTER": str(ms)},
            needs=LIBRARY_NEEDED,
        )
        for hours, ms in ((1, 500), (1, 1_000), (24 * 365, 1_500), (-48, 1_000))
    ),
    Row("another time zone", '"$@"', outcome="works", environment={"TZ": "Pacific/Kiritimati"}),
    Row("a time zone that does not exist", '"$@"', outcome="works", environment={"TZ": "No/Where"}),
    *(
        Row(
            f"memory of {size} MB (cgroup)",
            cgroup("memory", "memory.limit_in_bytes", f"{size}M"),
            silent=True,
            codes=(1, 137, -9),
            needs=("/sys/fs/cgroup/memory",),
        )
        for size in (40, 80, 120)
    ),
    *(
        Row(
            f"{file} of {size} MB (cgroup 2)",
            cgroup_2(file, f"{size}M"),
            silent=True,
            codes=(1, 137, -9),
            needs=("root", "memory of version 2"),
        )
        for file, size in (("memory.max", 40), ("memory.max", 80), ("memory.high", 60))
    ),
    *(
        Row(f"addresses of {size} MB (RLIMIT_AS)", f'ulimit -v {size * 1024}; exec "$@"')
        for size in (400, 600)
    ),
    Row(
        "read-only /dev/shm",
        'mount -t tmpfs -o ro none /dev/shm && "$@"',
        DENSE,
        "works",
        needs=MOUNT,
    ),
    Row("no HOME", '"$@"', outcome="works", without=("HOME",)),
    Row(
        "no HOME, and a user without a name",
        as_user(USER),
        outcome="works",
        user=USER,
        without=NAMELESS,
        needs=MOUNT,
    ),
    Row(
        "no HOME, and a user without a name: processes",
        as_user(USER),
        DENSE,
        user=USER,
        without=NAMELESS,
        needs=MOUNT,
    ),
    Row(
        "unwritable HOME",
        read_only("home"),
        outcome="works",
        environment={"HOME": "home"},
        needs=MOUNT,
    ),
    Row(
        "HOME that does not exist",
        as_user(USER),
        outcome="works",
        user=USER,
        environment={"HOME": "/nonexistent"},
        needs=MOUNT,
    ),
    Row("umask 077", 'umask 077; exec "$@"', outcome="works"),
    Row("umask 777", 'umask 777; exec "$@"', user=USER),
    Row("locale C", 'exec "$@"', outcome="works", environment=ASCII, printed=False),
    Row("locale C: show", 'exec "$@"', SHOW, "works", ASCII, finished=True, printed=False),
    Row("locale C: report", 'mkdir out; exec "$@"', REPORT, "works", ASCII, finished=True),
    Row(
        "locale POSIX: show",
        'exec "$@"',
        SHOW,
        "works",
        ASCII | {"LC_ALL": "POSIX"},
        finished=True,
        printed=False,
    ),
    Row(
        "TMPDIR that does not exist",
        'exec "$@"',
        outcome="works",
        environment={"TMPDIR": "/no/where"},
    ),
    Row(
        "no folder for temporary files: show",
        NO_TEMPORARY,
        SHOW,
        finished=True,
        environment={"TMPDIR": "/no/where"},
        needs=MOUNT,
    ),
    Row(
        "stdout closed by head",
        'set -o pipefail; "$@" | head -1 >/dev/null',
        SHOW,
        "works",
        finished=True,
        printed=False,
    ),
    Row(
        "stdout closed by head: json",
        'set -o pipefail; "$@" --json | head -c 10 >/dev/null',
        SHOW,
        "works",
        finished=True,
        printed=False,
    ),
    Row("stdout closed", 'exec "$@" >&-', SHOW, finished=True, printed=False),
    Row("stdout closed: run", 'exec "$@" >&-', printed=False),
    Row("stderr closed: run", 'exec "$@" 2>&-', outcome="works"),
    Row("stdout full", 'exec "$@" >/dev/full', SHOW, "message", finished=True, printed=False),
    Row(
        "stdout full: json",
        'exec "$@" --json >/dev/full',
        SHOW,
        "message",
        finished=True,
        printed=False,
    ),
    Row("stdout full: run", 'exec "$@" >/dev/full', outcome="message", printed=False),
    Row("stderr full: run", 'exec "$@" 2>/dev/full', outcome="works", silent=True),
    Row("both full: run", 'exec "$@" >/dev/full 2>&1', silent=True, printed=False),
    Row("stdin closed", 'exec "$@" <&-', outcome="works"),
    Row("all streams closed", 'exec "$@" <&- >&- 2>&-', silent=True, printed=False),
    *(
        Row(f"{count} file handles", f'ulimit -n {count}; exec "$@"')
        for count in (8, 12, 16, 24, 64)
    ),
    Row("64 file handles: processes", 'ulimit -n 64; exec "$@"', DENSE),
    *(
        Row(
            f"{count} threads (RLIMIT_NPROC)",
            f"ulimit -u {count}; {as_user(USER)}",
            user=USER,
            needs=MOUNT,
        )
        for count in (1, 2, 4, 8)
    ),
    Row(
        "4 threads: processes",
        cgroup("pids", "pids.max", "6"),
        DENSE,
        needs=("/sys/fs/cgroup/pids",),
    ),
)
