# Writes the catalogue of exercises in C: awk -f exercises/catalogue.awk exercises/NN_name/README.md... in the best
# order.
#
# A README begins with "# NN_name: what it is about" and, two lines below, "Kind, difficulty N of 3." The terminal shows
# "what it is about" in one line, so this text has at most 44 characters.

function refuse(reason) {
    print FILENAME ":" FNR ": " reason >"/dev/stderr"
    exit refused = 1
}

BEGIN { print "#include \"exercises/learn/exercise_list.h\"\n\nconst struct exercise exercise_list[] = {" }
FNR == 1 {
    name = FILENAME
    sub(/\/README\.md$/, "", name)
    sub(/.*\//, "", name)
    if (index($0, "# " name ": ") != 1)
        refuse("it must begin with '# " name ": ' and what it is about")
    title = substr($0, length(name) + 5)
    if (title == "" || length(title) > 44 || title ~ /["\\]/)
        refuse("what it is about has 1 to 44 characters, no quotation mark and no backslash")
}
FNR == 3 {
    if ($0 !~ /^(Write|Fix|Budget|Predict|Extend), difficulty [1-3] of 3\./)
        refuse("it must begin with 'Write, difficulty 1 of 3.', or Fix, Budget, Predict or Extend")
    kind = "EXERCISE_" toupper(substr($1, 1, length($1) - 1))
    printf "    {\"%s\", %s, %s, \"%s\"},\n", name, kind, $3, title
}
END {
    if (!refused)
        print "};\n\nconst size_t num_exercises = sizeof exercise_list / sizeof *exercise_list;\n" \
            "\n_Static_assert(sizeof exercise_list / sizeof *exercise_list <= MAX_EXERCISES, \"too many exercises\");"
}
