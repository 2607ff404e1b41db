# shellcheck shell=sh
# Functions that copy the repository's tree for tests of build/learn, so that the tests do not change a learner's files;
# sourced in the repository's root.
#
#   learn_tree BUILD FOLDER          makes a tree in FOLDER with everything that build/learn needs, except exercises and
#                                    build/learn itself
#   learn_exercise BUILD FOLDER FROM NAME   puts exercises/FROM into the tree, under NAME
#   fill EXERCISE ANSWERS            prints the exercise with the answers' regions filled in; other regions are
#                                    unchanged
#   answer_named FILE NAME           prints the answer of this name from a file with several answers
# shellcheck disable=SC2034 # the tests use these variables

learn_tree() {
    mkdir -p "$2/$1/cpu/exercises" "$2/$1/cpu/graders.a.objects" "$2/exercises"
    cp build.ninja "$2"
    ln -s "$PWD/common" "$2/common"
    ln -s "$PWD/docs" "$2/docs"
    ln -s "$PWD/exercises/answer.h" "$2/exercises/answer.h"
    ln -s "$PWD/$1/cpu/exercises/answer.h.gch" "$2/$1/cpu/exercises/answer.h.gch"
    for learn_tree_file in "$1"/cpu/*; do
        case $learn_tree_file in
        */exercises | */graders.a.objects) ;; # the tree gets its own, so that the build's graders are not overwritten
        *) ln -s "$PWD/$learn_tree_file" "$2/$learn_tree_file" ;;
        esac
    done
}

learn_exercise() {
    cp -R "exercises/$3" "$2/exercises/$4"
    cp "$1/cpu/graders.a.objects/exercises_$3_grader.o" "$2/$1/cpu/graders.a.objects/exercises_$4_grader.o"
}

fill() {
    awk '
        function name(line) {
            sub(/^ *\/\/ (TODO|END) /, "", line)
            return line
        }
        FNR == 1 { file++ }
        /^ *\/\/ TODO / {
            open = name($0)
            if (file == 1)
                known[open] = 1
            else {
                print
                if (open in known)
                    printf "%s", text[open]
            }
            next
        }
        /^ *\/\/ END / { open = "" }
        file == 1 && open != "" { text[open] = text[open] $0 "\n" }
        file == 2 && !(open != "" && open in known)
    ' "$2" "$1"
}

answer_named() {
    awk -v name="=== $2" '/^=== / { on = $0 == name; next } on' "$1"
}
