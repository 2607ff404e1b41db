/*
 * The site's search. It works without a server, even from a file: search_data.js contains the text of all sections, and
 * lunr builds its index in the browser when the search is first used. Keys: / focuses the field, arrows select, Enter
 * opens, Escape closes.
 */
'use strict';

(function () {
    const MAX_RESULTS = 20;
    const EXCERPT = 150, BEFORE = 50; /* characters of an excerpt, and of its part before the found word */
    const box = document.getElementById('MSearchBox');
    const field = document.getElementById('search-field');
    const list = document.getElementById('search-results');
    const state = document.getElementById('search-state');
    let index = null, loading = null, chosen = -1;

    function load(name) {
        return new Promise((done, fail) => {
            const script = document.createElement('script');

            script.src = name;
            script.onload = done;
            script.onerror = () => fail(new Error(name));
            document.head.append(script);
        });
    }

    /* --- the index --- */

    /* Returns a name and its parts, so that shfl, shfl_xor and sync also find __shfl_xor_sync; and a word's stem:
       predication and predicated both become predic. */
    function forms(token) {
        const text = token.toString();
        const parts = text.split('_').filter(part => part);
        const names = parts.length > 1 ? [parts.join('_'), ...parts.slice(1)] : parts;
        const stems = names.map(name => lunr.stemmer(new lunr.Token(name, {})).toString());
        const texts = new Set([text, ...names, ...stems]);

        return [...texts].map(form => token.clone(() => form));
    }

    function makeIndex() {
        lunr.Pipeline.registerFunction(forms, 'forms');
        lunr.tokenizer.separator = /[^\p{L}\p{N}_]+/u;
        return lunr(function () {
            this.pipeline.reset();
            this.pipeline.add(forms);
            this.searchPipeline.reset();
            this.field('page', {boost: 4});
            this.field('section', {boost: 6});
            this.field('text');
            searchData.sections.forEach(([page, section, , text], i) => {
                const [title, , boost] = searchData.pages[page];

                this.add({id: i, page: title, section, text}, {boost});
            });
        });
    }

    function ready() {
        loading = loading || Promise.all([load('lunr.min.js'), load('search_data.js')])
            .then(() => { index = makeIndex(); });
        return loading;
    }

    /* Returns the sections that contain all words, the last of which may be incomplete. Sections of the course's pages
       come first, above all one whose title is the search text; sections of the pages about source files come last. */
    function find(text) {
        const words = text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(word => word);
        const stems = words.map(word => lunr.stemmer(new lunr.Token(word, {})).toString());
        const has = (found, i) => found.some(term => term.startsWith(words[i]) || term === stems[i]);
        const wanted = words.map((word, i) => i);

        if (words.length === 0)
            return {words, results: []};
        const results = index.query(query => words.forEach((word, i) => {
            query.term(word, {boost: 10});
            query.term(stems[i], {boost: 3});
            query.term(word, {wildcard: lunr.Query.wildcard.TRAILING});
        }));
        const found = results.filter(({matchData}) => wanted.every(i => has(Object.keys(matchData.metadata), i)));
        const isCourse = ({ref}) => searchData.pages[searchData.sections[ref][0]][2] >= 1;
        const isNamed = ({ref}) => searchData.sections[ref][1].toLowerCase() === text.trim().toLowerCase();
        const rank = result => 2 * isCourse(result) + (isCourse(result) && isNamed(result));
        const all = found.sort((a, b) => rank(b) - rank(a)); /* stable: equal ranks keep lunr's order */

        return {words: [...words, ...stems], results: all.slice(0, MAX_RESULTS)};
    }

    /* --- the results --- */

    function marked(text, words) {
        const out = document.createElement('span');
        const plain = words.map(word => word.replace(/[^\p{L}\p{N}_]/gu, '')).filter(word => word);
        const pattern = new RegExp(plain.join('|'), 'giu');
        let at = 0;

        for (const found of text.matchAll(pattern)) {
            const mark = document.createElement('mark');

            mark.textContent = found[0];
            out.append(text.slice(at, found.index), mark);
            at = found.index + found[0].length;
        }
        out.append(text.slice(at));
        return out;
    }

    function excerpt(text, words) {
        const lower = text.toLowerCase();
        const found = words.map(word => lower.indexOf(word)).filter(at => at >= 0);
        const first = Math.max(0, (found.length ? Math.min(...found) : 0) - BEFORE);
        const start = first === 0 ? 0 : text.indexOf(' ', first) + 1;

        const end = start + EXCERPT;
        return (start > 0 ? '… ' : '') + text.slice(start, end) + (text.length > end ? ' …' : '');
    }

    function item(ref, number, words) {
        const [page, section, anchor, text] = searchData.sections[ref];
        const [title, address] = searchData.pages[page];
        const link = document.createElement('a'), head = document.createElement('b');
        const entry = document.createElement('li');

        link.href = address + (anchor ? '#' + anchor : '');
        link.tabIndex = -1;
        head.append(marked(section && section !== title ? title + ': ' + section : title, words));
        link.append(head, marked(excerpt(text, words), words));
        entry.id = 'search-result-' + number;
        entry.setAttribute('role', 'option');
        entry.setAttribute('aria-selected', 'false');
        entry.append(link);
        return entry;
    }

    function open(isOpen) {
        list.hidden = !isOpen;
        state.hidden = !isOpen;
        field.setAttribute('aria-expanded', String(isOpen));
        if (!isOpen)
            choose(-1);
    }

    /* Chooses an entry; a number outside the list chooses none. */
    function choose(number) {
        chosen = number;
        [...list.children].forEach((entry, i) => entry.setAttribute('aria-selected', String(i === chosen)));
        field.removeAttribute('aria-activedescendant');
        if (list.children[chosen]) {
            field.setAttribute('aria-activedescendant', list.children[chosen].id);
            list.children[chosen].scrollIntoView({block: 'nearest'});
        }
    }

    async function show() {
        const text = field.value;

        if (!text.trim())
            return open(false);
        try {
            await ready();
        } catch (error) {
            state.textContent = 'The search cannot read ' + error.message + '.';
            return open(true);
        }
        if (text !== field.value)
            return; /* more was typed in the meantime */
        const {words, results} = find(text);

        list.replaceChildren(...results.map((result, number) => item(result.ref, number, words)));
        state.textContent = results.length === 0             ? 'Nothing found.'
                            : results.length === MAX_RESULTS ? 'The best ' + MAX_RESULTS + ':'
                                                             : results.length + ' found:';
        open(true);
        choose(0);
    }

    function key(event) {
        if (event.key === 'Escape') {
            open(false);
        } else if (event.key === 'Enter' && !list.hidden && list.children[chosen]) {
            location.href = list.children[chosen].firstChild.href;
            open(false);
        } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !list.hidden) {
            choose((chosen + (event.key === 'ArrowDown' ? 1 : list.children.length - 1)) % list.children.length);
        } else {
            return;
        }
        event.preventDefault();
    }

    field.addEventListener('focus', () => { ready().catch(() => {}); show(); });
    field.addEventListener('input', show);
    field.addEventListener('keydown', key);
    list.addEventListener('click', () => open(false));
    document.addEventListener('pointerdown', event => {
        if (!box.contains(event.target))
            open(false);
    });
    document.addEventListener('keydown', event => {
        if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.target.closest('input, select, textarea')) {
            event.preventDefault();
            field.focus();
            field.select();
        }
    });
})();
