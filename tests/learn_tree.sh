# shellcheck shell=sh
# Read by what tries build/learn, from the repository's root: copies of the tree, so that no learner's file is touched.
#
#   learn_tree BUILD FOLDER          a new tree in FOLDER with what build/learn works with, but no exercise and no
#                                    build/learn
#   learn_exercise BUILD FOLDER FROM NAME   puts exercises/FROM into the tree, under NAME
#   fill EXERCISE ANSWERS            the exercise's text with the answers' regions in it; others stay
#   answer_named FILE NAME           one of several answers in a file
# shellcheck disable=SC2034 # used by whoever reads this

learn_tree() {
    mkdir -p "$2/$1/cpu/exercises" "$2/$1/cpu/graders.a.objects" "$2/exercises"
    cp build.ninja "$2"
    ln -s "$PWD/common" "$2/common"
    ln -s "$PWD/docs" "$2/docs"
    ln -s "$PWD/exercises/answer.h" "$2/exercises/answer.h"
    ln -s "$PWD/$1/cpu/exercises/answer.h.gch" "$2/$1/cpu/exercises/answer.h.gch"
    for learn_tree_file in "$1"/cpu/*; do
        case $learn_tree_file in
        */exercises | */graders.a.objects) ;; # the tree's own: the build's graders are not to be written to
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
