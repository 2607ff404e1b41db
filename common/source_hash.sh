#!/bin/sh
# Prints the SHA-256 of what a kernel file is as source: the file and every header of the project that it or one of them
# includes ("..." in quotes), each once, without comments and however the text is laid out. A change of a device
# function in common/kernels changes it, a corrected comment does not. Left out is an operator's own header,
# common/harness/NAME/NAME.h: it says what a problem is, for all programs, and one more option makes no kernel another
# one.
#
#   sh common/source_hash.sh FILE [OUT]      with OUT, OUT.d tells Ninja of which files OUT is made
#
# A header lies in the folder of the file that includes it, in common/, or in common/harness/. Run in the repository's
# root.
set -eu
[ $# -ge 1 ] || { echo 'usage: sh common/source_hash.sh FILE [OUT]' >&2; exit 2; }

text=$(awk -v file="$1" -v out="${2:-}" -v script="$0" '
    function fail(reason) {
        print "source_hash.sh: " reason | "cat >&2"
        exit 1
    }

    # The path without "." and "x/..".
    function shortest(path) {
        while (sub(/\/\.\//, "/", path) || sub(/^\.\//, "", path)) {}
        while (sub(/(^|\/)[^\/.][^\/]*\/\.\.\//, "/", path)) {}
        sub(/^\/+/, path ~ /^\// && file !~ /^\// ? "" : "/", path)
        return path
    }

    function is_there(path,   line, there) {
        there = (getline line <path) >= 0
        close(path)
        return there
    }

    function find_header(includer, name,   folders, i, path) {
        folders[1] = includer ~ /\// ? includer : "./"
        sub(/[^\/]*$/, "", folders[1])
        folders[2] = "common/"
        folders[3] = "common/harness/"
        for (i = 1; i <= 3; i++)
            if (is_there(folders[i] name))
                return shortest(folders[i] name)
        fail(includer ": \"" name "\" is not there")
    }

    # common/harness/gate/gate.h
    function is_operators(path,   parts, count) {
        count = split(path, parts, "/")
        return parts[count] == parts[count - 1] ".h" && parts[count - 2] == "harness"
    }

    # A line without comments; in_comment says whether one goes on.
    function strip(line,   kept, at, end) {
        while (line != "") {
            if (in_comment) {
                if (!(at = index(line, "*/")))
                    return kept
                line = substr(line, at + 2)
                in_comment = 0
                continue
            }
            if (!match(line, /\/\*|\/\/|["\047]/))
                return kept line
            at = RSTART
            if (substr(line, at, 2) == "//")
                return kept substr(line, 1, at - 1) " "
            if (substr(line, at, 2) == "/*") {
                kept = kept substr(line, 1, at - 1) " "
                line = substr(line, at + 2)
                in_comment = 1
                continue
            }
            # A string or a character, to its end.
            end = substr(line, at, 1)
            kept = kept substr(line, 1, at)
            line = substr(line, at + 1)
            if (!match(line, "^([^\\\\" end "]|\\\\.)*" end))
                continue
            kept = kept substr(line, 1, RLENGTH)
            line = substr(line, RLENGTH + 1)
        }
        return kept
    }

    function read_source(path,   line, name, status) {
        in_comment = 0
        while ((status = (getline line <path)) > 0) {
            line = strip(line)
            if (line !~ /^ *# *include *"/) {
                if (line ~ /[^ \t]/)
                    print line
                continue
            }
            name = line
            sub(/^[^"]*"/, "", name)
            sub(/".*$/, "", name)
            name = find_header(path, name)
            if (!(name in seen) && !is_operators(name)) {
                seen[name] = 1
                files[++count] = name
            }
        }
        if (status < 0)
            fail(path " is not there")
        close(path)
    }

    BEGIN {
        files[count = 1] = file
        seen[file] = 1
        for (i = 1; i <= count; i++)
            read_source(files[i])
        if (out != "") {
            printf "%s:", out >(out ".d")
            for (i = 1; i <= count; i++)
                printf " %s", files[i] >(out ".d")
            print " " script >(out ".d")
        }
    }') || exit 1
# A space on both sides of every sign, and one for all other space: the layout is gone.
printf '%s\n' "$text" | sed 's/\\$//; s/[^[:alnum:]_]/ & /g' | tr -s '[:space:]' ' ' | sha256sum | cut -d ' ' -f 1
