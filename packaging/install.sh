#!/bin/sh
# install.sh [--prefix DIRECTORY] [--destdir DIRECTORY] [--uninstall]: installs navd and navctl from an unpacked release, or removes
# them. With --destdir, it puts them below that directory, for a package that is installed elsewhere.
# It needs no compiler and no package; only navd-windows needs libraries.
set -eu
here=$(dirname "$0")

usage() {
  echo "usage: install.sh [--prefix DIRECTORY] [--destdir DIRECTORY] [--uninstall]"
  echo "Without --prefix, DIRECTORY is /usr/local for root, and ~/.local for others."
}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

if [ "$(id -u)" -eq 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
uninstall='' destdir='' package=''
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -ge 2 ] || fail "expected a directory after --prefix, found nothing"; prefix=$2; shift ;;
    --prefix=*) prefix=${1#*=} ;;
    --destdir) [ $# -ge 2 ] || fail "expected a directory after --destdir, found nothing"; destdir=${2%/} package=yes; shift ;;
    --uninstall) uninstall=yes ;;
    --help | -h) usage; exit ;;
    *) usage >&2; fail "expected --prefix, --destdir, --uninstall or --help, found $1" ;;
  esac
  shift
done
case $prefix in
  /*) ;;
  *) fail "expected an absolute path after --prefix, found “$prefix”" ;;
esac
prefix=${prefix%/}

# In a home directory, systemd reads units below share, not below lib.
units=lib/systemd/user
case $prefix/ in "$HOME"/*) units=share/systemd/user ;; esac

# Paths of all files below the prefix, in the order of the release.
files() { (cd "$here/files" && find . -type f | sed 's|^\./||' | sort); }
target() {
  case $1 in
    lib/systemd/user/*) echo "$destdir$prefix/$units/${1#lib/systemd/user/}" ;;
    *) echo "$destdir$prefix/$1" ;;
  esac
}

if [ -n "$uninstall" ]; then
  files | while read -r file; do rm -f "$(target "$file")"; done
  for directory in $units/navd.service.d share/gnome-shell/extensions/navd-windows@navd.org share/licenses/navd; do
    rmdir "$destdir$prefix/$directory" 2>/dev/null || true
  done
  echo "navd is removed from $prefix; your files in ~/.config/navd are left"
  echo "what runs goes on until you type: systemctl --user disable --now navd-windows; systemctl --user stop navd"
  exit
fi

# The unit files and that of the bus have it in a line that is split into words, and sed puts it there.
case $prefix in
  *[[:space:]\"\'\`\\\$%\&\|]*) fail "expected a path without blanks, quotes, \\, \$, %, & and | after --prefix, found “$prefix”" ;;
esac

# A program for another processor architecture fails only when it is started.
"$here/files/bin/navd" --version >/dev/null ||
  fail "navd does not run here; expected Linux on $(cat "$here/architecture")"

gnome=$(gnome-shell --version 2>/dev/null | sed -n 's/^GNOME Shell \([0-9]*\).*/\1/p')
# Older managers cannot start commands as services, and commands must not inherit the settings in this file.
systemd=$(systemctl --version 2>/dev/null | sed -n '1s/^systemd \([0-9]*\).*/\1/p')
# A package is for another system than the one that makes it, and for one that is no older than this release.
if [ -n "$package" ]; then gnome='' systemd=250; fi
files | while read -r file; do
  case $file in */hardening.conf) [ "${systemd:-0}" -ge 250 ] || continue ;; esac
  to=$(target "$file") from=$here/files/$file
  [ "${gnome:-45}" -ge 45 ] || [ ! -e "$here/files-gnome-43/$file" ] || from=$here/files-gnome-43/$file
  # A part of a file, if the script ends here.
  trap 'rm -f "$to.new"' EXIT
  mkdir -p "$(dirname "$to")"
  mode=644
  # Each a command of its own, so that a failure, as on a full disk, ends the script before a part of a file replaces anything.
  case $file in
    bin/*) cp "$from" "$to.new"; mode=755 ;;
    *.service | *.desktop) sed "s|@BINDIR@|$prefix/bin|" "$from" >"$to.new" ;;
    *) cp "$from" "$to.new" ;;
  esac
  chmod $mode "$to.new"
  # Atomic, also while navd runs.
  mv -f "$to.new" "$to"
done
[ -z "$package" ] || exit 0
echo "navd and navctl are in $prefix/bin"
"$prefix/bin/navd-windows" --version >/dev/null 2>&1 ||
  echo "navd-windows, by which panels follow their windows, does not run here; it needs glibc 2.36 (2.38 on ARM), libwayland-client and libxcb"
case :${XDG_DATA_HOME:-$HOME/.local/share}:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}: in
  *:"$prefix/share":*) ;;
  *) echo "add $prefix/share to XDG_DATA_DIRS, where the bus looks for navd, or start navd with the session" ;;
esac
case :$PATH: in
  *:"$prefix/bin":*) ;;
  *)
    # The profile of Debian and others adds it at the login, if it is there.
    if [ "$prefix" = "$HOME/.local" ] && grep -qs '\.local/bin' "$HOME/.profile" "$HOME/.bash_profile"; then
      echo "$prefix/bin is in PATH from the next login on; until then, type in a terminal: PATH=$prefix/bin:\$PATH"
    else
      echo "add $prefix/bin to PATH: write this line at the end of ~/.profile, then log out and in: PATH=$prefix/bin:\$PATH"
    fi
    ;;
esac
case :${XDG_CURRENT_DESKTOP-}: in
  *:GNOME:*) echo "on GNOME, log out and in, and run once: gnome-extensions enable navd-windows@navd.org" ;;
  *:KDE:*) echo "on Plasma, run once: systemctl --user enable --now navd-windows" ;;
esac
echo "what to do first: README.md, “First steps”"
