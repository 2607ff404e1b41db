/*
 * The site's functions for its reader: remembers, only in this browser, which chapters were read and which exercises
 * were solved; prints pages in light colours with unfolded answers; and lets long commands continue in the next line.
 */
'use strict';

(function () {
    const MAX_PLAIN_CODE = 34; /* characters that fit into a line on a phone */
    const PREFIX = 'moe-routing:'; /* begins the keys in the browser's storage; a page's name follows */
    const KINDS = [[/^(chapter_\d+[a-z]?(_2)?|primer(_together|_machine)?)$/, 'read', 'I have read this page'],
                   [/^exercise_\d\d[a-z]?_\w+$/, 'solved', 'I have solved this exercise']];

    function pageOf(address) {
        return address.split(/[?#]/)[0].replace(/^.*\//, '').replace(/\.html$/, '');
    }

    /* --- progress --- */

    /* Returns the storage of the reader's progress; null if the browser stores nothing. */
    function openStorage() {
        try {
            localStorage.setItem(PREFIX, '');
            localStorage.removeItem(PREFIX);
            return localStorage;
        } catch {
            return null;
        }
    }

    const storage = openStorage();

    function isDone(page) {
        return storage.getItem(PREFIX + page) !== null;
    }

    function solvedOf(chapter) {
        const start = PREFIX + 'exercise_' + chapter + '_';

        return Object.keys(storage).filter(key => key.startsWith(start)).length;
    }

    /*
     * Returns the words after a link to a page: whether the page is read or solved, and how many of its exercises are
     * solved.
     */
    function words(page) {
        const kind = KINDS.find(([pattern]) => pattern.test(page));
        const said = kind && isDone(page) ? [kind[1]] : [];
        const solved = page.startsWith('chapter_') ? solvedOf(page.slice('chapter_'.length)) : 0;

        return solved ? [...said, solved + ' solved'] : said;
    }

    function markLinks() {
        document.querySelectorAll('.done').forEach(mark => mark.remove());
        document.querySelectorAll('.contents td a[href], .contents li > a[href], .place a[href]').forEach(link => {
            const inSentence = !link.closest('td, .place') && link.previousSibling;
            const said = link.hash || inSentence ? [] : words(pageOf(link.getAttribute('href')));

            if (said.length) {
                const mark = document.createElement('span');

                mark.className = 'done';
                mark.textContent = ' \u2713\u00a0' + said.join(', ');
                link.after(mark);
            }
        });
    }

    /* Adds the box to tick at the foot of a chapter or an exercise. */
    function addBox(page, [, , text]) {
        const label = document.createElement('label'), box = document.createElement('input');
        const ways = document.querySelectorAll('.contents .way');

        box.type = 'checkbox';
        box.checked = isDone(page);
        box.addEventListener('change', () => {
            if (box.checked)
                storage.setItem(PREFIX + page, new Date().toISOString().slice(0, 10));
            else
                storage.removeItem(PREFIX + page);
            markLinks();
        });
        label.className = 'progress';
        label.append(box, ' ' + text);
        if (ways.length)
            ways[ways.length - 1].before(label);
        else
            document.querySelector('.contents .textblock').append(label); /* .contents has columns */
    }

    const page = pageOf(location.pathname), kind = KINDS.find(([pattern]) => pattern.test(page));

    if (storage) {
        if (kind)
            addBox(page, kind);
        markLinks();
        addEventListener('pageshow', markLinks);
        addEventListener('storage', markLinks);
    }

    /* --- commands --- */

    /* Browsers may break a line after a hyphen. Options are kept whole, so that --trace does not become -- and trace.
       Code that is longer than a line on a phone is a command, which begins within the text and continues below. */
    document.querySelectorAll('.textblock p code, .textblock li code, .textblock td code').forEach(code => {
        const pieces = code.textContent.split(/( --?[A-Za-z]\S*)/);

        code.classList.toggle('command', code.textContent.length > MAX_PLAIN_CODE);
        if (code.children.length)
            return;
        code.replaceChildren(...pieces.flatMap((piece, i) => {
            const option = document.createElement('span');

            option.className = 'option';
            option.textContent = piece.slice(1);
            return i % 2 ? [' ', option] : [piece];
        }));
    });

    /* --- print --- */

    const classes = document.documentElement.classList;
    let restore = [];

    addEventListener('beforeprint', () => {
        const folded = [...document.querySelectorAll('details:not([open])')], wasDark = classes.contains('dark-mode');

        folded.forEach(details => { details.open = true; });
        classes.remove('dark-mode');
        classes.add('light-mode');
        restore = [() => folded.forEach(details => { details.open = false; }), () => {
            classes.toggle('dark-mode', wasDark);
            classes.toggle('light-mode', !wasDark);
        }];
    });
    addEventListener('afterprint', () => restore.forEach(undo => undo()));
})();
