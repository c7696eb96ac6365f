#!/bin/sh
# files.sh DIRECTORY DOCUMENT…: writes the files that documents of this book show. A code block with a file name is that file below the
# directory, such as ~/.config, or is that file itself if its name begins with a slash. Files that are there stay as they are.
set -eu
to=$1
shift
awk -v to="$to" '
  /^```/ {
    if (inside) { inside = 0; if (file) close(file); file = ""; next }
    inside = 1
    name = NF == 2 && $2 ~ "/" ? $2 : ""
    if (!name) next
    file = name ~ "^/" ? name : to "/" name
    if ((getline _ <file) >= 0) { close(file); print "kept " file; file = ""; next }
    directory = file
    sub("/[^/]*$", "", directory)
    system("mkdir -p \"" directory "\"")
    print "written " file
    next
  }
  file { print >file }' "$@"
