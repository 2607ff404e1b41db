/*
 * Plays back what the warps of a block did, on pages that stepper_pages.py makes. A page holds the program's trace,
 * compressed, the arrays that the kernel writes, the steps as text and the source; this file adds the controls, the
 * lanes, the memory and the barriers. It needs no library and fetches nothing.
 */
'use strict';

(function () {
    const LANES = 32;
    const CELL = 40, LEFT = 66; /* px: the width of a lane's column, and the left edge of the first */
    const CHARACTER = 8; /* px: the approximate width of a character in a lane's cell */
    const SHUFFLE = 'shuffle', VOTE = 'vote', WARP_BARRIER = 'warp_barrier', BLOCK_BARRIER = 'block_barrier',
        ATOMIC = 'atomic',
          RETURN = 'return', MMA = 'mma', MATRIX_MEMORY = 'matrix_memory', COPY_TO = 'copy_to',
          BULK_COPY = 'bulk_copy', MBARRIER = 'mbarrier',
          LOADS = ['shared_load', 'global_load', 'copy_from'];
    const NUMBER_OF = {init: 'arrivals', arrive_expect: 'announced', wait: 'parity'}; /* column of an mbarrier event */
    const UNDER_WAY = '\u2026'; /* replaces a value that a copy has not delivered yet */
    const SHARED = -2; /* the space of a region in shared memory; otherwise it is the number of an allocation */
    const SVG = 'http://www.w3.org/2000/svg';

    function element(name, attributes, ...children) {
        const node = document.createElement(name);

        for (const [key, value] of Object.entries(attributes || {}))
            node.setAttribute(key, value);
        node.append(...children);
        return node;
    }

    function drawn(name, attributes, text) {
        const node = document.createElementNS(SVG, name);

        for (const [key, value] of Object.entries(attributes))
            node.setAttribute(key, value);
        if (text !== undefined)
            node.textContent = text;
        return node;
    }

    /* --- the data ------------------------------------------------------------------------------------------------- */

    async function readTrace(root) {
        const bytes = Uint8Array.from(atob(root.querySelector('.stepper-trace').textContent), c => c.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));

        return new Response(stream).json();
    }

    /* Formats a number with four significant digits, ties to even, as C's %.4g. */
    function fourDigits(value) {
        const tie = /^(-?\d\.\d\d[02468])50*e(.*)$/.exec(value.toExponential(20));
        const [digits, exponent] = tie ? tie.slice(1) : value.toExponential(3).split('e');

        if (exponent < -4 || exponent > 3)
            return Number(digits) + 'e' + exponent[0] + exponent.slice(1).padStart(2, '0');
        return String(Number(digits + 'e' + exponent));
    }

    /* Formats a word of a value as its most likely type: a float of a usual size, infinity, or a whole number. The
       trace does not contain types; a small whole number has no exponent bits set, a float of a usual size has some. */
    function wordText(value, word) {
        const digits = value.slice(2), end = digits.length - 8 * word, view = new DataView(new ArrayBuffer(4));

        view.setUint32(0, parseInt(digits.slice(Math.max(0, end - 8), end) || 0, 16));
        const float = view.getFloat32(0), size = Math.abs(float);

        if (size === Infinity)
            return float > 0 ? 'inf' : '-inf';
        return size >= 1e-9 && size < 1e9 ? fourDigits(float) : String(view.getInt32(0));
    }

    /* Formats a word of a value as its bf16 elements, the lower first. */
    function halvesText(value, word, bytes) {
        const digits = value.slice(2).padStart(8 * word + 8, '0'), view = new DataView(new ArrayBuffer(4));
        const bits = parseInt(digits.slice(digits.length - 8 * word - 8, digits.length - 8 * word), 16);

        return [bits << 16, bits & 0xffff0000].slice(0, bytes / 2).map(half => {
            view.setInt32(0, half);
            const number = view.getFloat32(0);

            return Number.isFinite(number) ? fourDigits(number)
                : String(number).toLowerCase().replace('infinity', 'inf');
        }).join(' ');
    }

    function takesPart(event, lane) {
        return (event.lanes / 2 ** lane & 1) === 1;
    }

    /* Returns the cells of the regions that contain these words of shared memory: for each region its number, the first
       cell and the end, exclusive. */
    function copiedCells(word, count, regions) {
        return regions.map(([space, , first, cells], region) =>
            [region, Math.max(0, word - first), space === SHARED ? Math.min(cells, word + count - first) : 0])
            .filter(([, first, end]) => first < end);
    }

    /* Converts an event of the trace for the page: each column has an element for each of the 32 lanes, null for
       inactive lanes; values become texts. */
    function readEvent(event, trace, files, regions, dtype) {
        const {kind, warp, line = 0, lanes} = event;
        const shown = {kind, warp, file: files.indexOf(event.file || trace.source), line, lanes};
        const column = element =>
            Array.from({length: LANES}, (_, lane) => takesPart(event, lane) ? element(lane) : null);
        const halves = dtype === 'bf16' && (event.bytes === 2 || event.bytes === 16);
        const text = (value, word) => halves ? halvesText(value, word, event.bytes) : wordText(value, word);
        const unknown = kind === COPY_TO ? UNDER_WAY : '?';
        const texts = (values, word = 0) => column(lane => values[lane] === null ? unknown : text(values[lane], word));

        if (kind === SHUFFLE) {
            shown.from = column(lane => event.from[lane] >= 0 ? event.from[lane] : lane);
            shown.brings = texts(event.in);
            shown.receives = column(lane => shown.brings[shown.from[lane]]);
        } else if (kind === VOTE) {
            shown.brings = texts(event.in);
            shown.receives = texts(event.out);
        } else if (kind === BULK_COPY) {
            const dynamic = trace.dynamic_shared.offset;

            shown.rows = [['to word', column(lane => '[' + (event.to[lane] - dynamic) / 4 + ']')],
                          ['bytes', column(lane => String(event.copied[lane]))]];
            shown.copied = column(lane => copiedCells(event.to[lane] / 4, event.copied[lane] / 4, regions)).flat()
                .filter(cells => cells);
        } else if (kind === MBARRIER) {
            const number = NUMBER_OF[event.operation];

            shown.rows = [event.phase && ['phase', event.phase], number && [number, event[number]]].filter(row => row)
                .map(([label, numbers]) => [label, column(lane => String(numbers[lane]))]);
            shown.waits = event.operation === 'wait' && event.phase.some(phase => phase !== null && phase >= 0);
        } else if (event.offset) {
            const isShared = kind.startsWith('shared') || kind === COPY_TO ||
                (kind === ATOMIC && event.space !== 'global');
            const word = lane => Math.floor(event.offset[lane] / 4);
            const start = isShared ? 0
                : Math.min(...regions.filter(([space]) => space !== SHARED).map(([, , first]) => first));
            const place = lane => regions[shown.region[lane]] ? shown.index[lane] + regions[shown.region[lane]][4]
                                                                : word(lane) - start;

            shown.region = column(lane => regions.findIndex(([space, , first, count]) =>
                space === (isShared ? SHARED : event.allocation[lane]) &&
                word(lane) >= first && word(lane) < first + count));
            shown.index = column(lane => word(lane) - (shown.region[lane] < 0 ? 0 : regions[shown.region[lane]][2]));
            shown.place = column(lane => '[' + place(lane) + ']');
            shown.half = halves && event.bytes === 2 ? column(lane => event.offset[lane] % 4 / 2) : null;
            shown.words = Array.from({length: Math.max(1, event.bytes / 4)}, (_, i) => texts(event.value, i));
        } else if (kind === MMA || kind === MATRIX_MEMORY) {
            shown.operation = event.operation;
        }
        return shown;
    }

    /* Returns each lane's part of the 8x8 matrices whose rows a warp has read for ldmatrix, 8 lanes per matrix: word
       lane % 4 of row lane / 4. The result has a row of texts for each matrix. */
    function fragments(load) {
        const matrices = load.words[0].filter(text => text !== null).length / 8;

        return Array.from({length: matrices}, (_, matrix) => Array.from({length: LANES}, (_, lane) =>
            load.words[lane % 4][8 * matrix + Math.floor(lane / 4)]));
    }

    /*
     * Converts all events. A block barrier, which the trace lists for each warp, is shown once; the first barrier is
     * number 1.
     */
    function readEvents(trace, files, regions, dtype) {
        const events = [];
        let barriers = 0;
        const read = event => readEvent(event, trace, files, regions, dtype);

        for (const event of trace.events) {
            if (event.kind !== BLOCK_BARRIER) {
                const shown = read(event);

                if (shown.operation === 'ldmatrix')
                    shown.fragments = fragments(events.findLast(other => other.warp === shown.warp));
                events.push(shown);
            } else if (event.barrier >= barriers) {
                barriers = event.barrier + 1;
                events.push({...read(event), warp: -1, barrier: barriers});
            }
        }
        return events;
    }

    /* Returns a word's text after one of its two bf16 elements is written. */
    function withHalf(text, half, written) {
        const halves = text && text.includes(' ') ? text.split(' ') : ['?', '?'];

        halves[half] = written;
        return halves.join(' ');
    }

    /* Applies the writes of events `first` to `last` to the words of all regions; null means not written yet. */
    function write(data, memory, first, last) {
        for (let i = first; i <= last; i++) {
            const event = data.events[i];

            (event.copied || []).forEach(([region, from, end]) => memory[region].fill(UNDER_WAY, from, end));
            if (!event.words)
                continue;
            for (let lane = 0; lane < LANES; lane++) {
                const region = event.region[lane];

                if (region === null || region < 0)
                    continue;
                event.words.forEach((word, piece) => {
                    const at = event.index[lane] + piece;

                    if (at >= memory[region].length)
                        return;
                    /* An atomic's value is the old one. The course's atomics count, so the new value is one more. */
                    if (event.kind === ATOMIC)
                        memory[region][at] = /^-?\d+$/.test(word[lane]) ? String(Number(word[lane]) + 1) : '?';
                    else
                        memory[region][at] = event.half ? withHalf(memory[region][at], event.half[lane], word[lane])
                                                        : word[lane];
                });
            }
        }
    }

    /* Shortens a value for a lane's cell: .589 for 0.589, 1.2e-5 for 1.234e-05; words stay as they are. The cell's
       title has the full value. */
    function short(text) {
        const shorter = text.replace(/^(-?)0\./, '$1.');

        if (!shorter.includes('e') || Number.isNaN(Number(text)))
            return shorter;
        return Number(text).toPrecision(2).replace(/e([+-])0*/, 'e$1').replace('e+', 'e');
    }

    /* Returns the rows of an event's values in the lanes: one for each word, or for each of a word's two elements. */
    function rowsOf(event) {
        return (event.fragments || event.words || []).flatMap(row => {
            const half = i => row.map(text => text && text.includes(' ') ? text.split(' ')[i] : text);

            return row.some(text => text && text.includes(' ')) ? [half(0), half(1)] : [row];
        });
    }

    /* --- one stepper ---------------------------------------------------------------------------------------------- */

    function Stepper(root, trace) {
        const regions = JSON.parse(root.querySelector('.stepper-regions').textContent);
        const files = [...root.querySelectorAll('.stepper-file code')].map(code => code.textContent);

        this.root = root;
        this.data = {warps: Math.ceil(trace.block.reduce((a, b) => a * b) / LANES), regions,
                     events: readEvents(trace, files, regions, root.dataset.dtype)};
        this.texts = [...root.querySelectorAll('.stepper-list li')].flatMap(line =>
            new Array(Number(line.dataset.times || 1)).fill(line.firstChild.data)); /* a line may mean several steps */
        this.files = [...root.querySelectorAll('.stepper-file')];
        this.warp = 0;
        this.position = 0; /* number of steps that are done */
        this.timer = null;
        this.words = regions.map(region => new Array(region[3]).fill(null)); /* the contents of memory */
        this.written = -1; /* the last event whose writes are in the words */
        this.parts = new Map(); /* for each box that scrolls, the part that must be visible */
        this.marked = []; /* cells that the last step reads or writes */
        this.height = 50 + 24 * Math.max(3, ...this.data.events.map(event => rowsOf(event).length));
        this.build();
        this.chooseWarp(0);
    }

    /* Selects a warp. Its steps are indices of events; the last step is the end, when all warps are done. */
    Stepper.prototype.chooseWarp = function (warp) {
        const at = this.position === 0 ? -1 : this.steps[this.position - 1];
        const last = this.data.events.length - 1;

        this.warp = warp;
        this.steps = [];
        this.data.events.forEach((event, i) => {
            if (event.warp === warp || event.kind === BLOCK_BARRIER)
                this.steps.push(i);
        });
        if (this.steps[this.steps.length - 1] !== last)
            this.steps.push(last);
        this.slider.max = this.steps.length;
        this.moveTo(this.steps.filter(step => step <= at).length);
    };

    Stepper.prototype.moveTo = function (position) {
        this.position = Math.max(0, Math.min(this.steps.length, position));
        if (this.position === this.steps.length)
            this.pause();
        this.show();
    };

    Stepper.prototype.play = function () {
        if (this.position === this.steps.length)
            this.position = 0;
        this.timer = setInterval(() => this.moveTo(this.position + 1), 900);
        this.show();
    };

    Stepper.prototype.pause = function () {
        clearInterval(this.timer);
        this.timer = null;
    };

    Stepper.prototype.toggle = function () {
        if (this.timer)
            this.pause();
        else
            this.play();
        this.show();
    };

    /* --- parts that are built once --- */

    Stepper.prototype.button = function (text, label, action) {
        const button = element('button', {type: 'button', 'aria-label': label, title: label}, text);

        button.addEventListener('click', () => {
            action();
            this.show();
        });
        return button;
    };

    Stepper.prototype.stopAt = function (position) {
        this.pause();
        this.moveTo(position());
    };

    Stepper.prototype.build = function () {
        const view = this.root.querySelector('.stepper-view');
        const copies = this.data.events.some(event => event.kind === COPY_TO || event.copied?.length > 0);
        const keys = 'Keys: space plays and pauses, arrows step, Home and End jump.';
        const legend = ' ' + UNDER_WAY + ' is what a copy brings; its value is shown when it is first read.';
        const list = this.root.querySelector('.stepper-list');

        this.select = element('select', {'aria-label': 'warp'});
        for (let warp = 0; warp < this.data.warps; warp++)
            this.select.append(element('option', {value: warp}, 'warp ' + warp));
        this.select.addEventListener('change', () => this.chooseWarp(Number(this.select.value)));

        this.playButton = this.button('', 'Play', () => this.toggle());
        this.slider = element('input', {type: 'range', min: 0, step: 1, 'aria-label': 'step'});
        this.slider.addEventListener('input', () => this.stopAt(() => Number(this.slider.value)));
        this.count = element('span', {class: 'stepper-count'});
        this.controls = element(
            'div', {class: 'stepper-controls', role: 'group', 'aria-label': 'controls'}, this.select,
            this.button('Start', 'To the beginning (Home)', () => this.stopAt(() => 0)),
            this.button('Back', 'One step back (left arrow)', () => this.stopAt(() => this.position - 1)),
            this.playButton,
            this.button('Step', 'One step on (right arrow)', () => this.stopAt(() => this.position + 1)),
            this.button('End', 'To the end (End)', () => this.stopAt(() => this.steps.length)),
            this.slider, this.count);

        this.summary = element('p', {class: 'stepper-summary', 'aria-live': 'polite', 'aria-atomic': 'true'});
        this.lanes = drawn('svg', {role: 'img', class: 'stepper-lanes'});
        this.lanesBox = element(
            'div', {class: 'stepper-box', tabindex: 0, role: 'region', 'aria-label': 'lanes'}, this.lanes);
        this.warps = element('div', {class: 'stepper-warps', role: 'group', 'aria-label': 'the warps of the block'});
        this.memory = element('div', {class: 'stepper-memory', tabindex: 0, role: 'region', 'aria-label': 'memory'});
        this.buildMemory();
        view.append(this.controls,
            element('p', {class: 'stepper-keys'}, keys + (copies ? legend : '')),
            this.summary, this.lanesBox, this.warps, this.memory);
        view.tabIndex = 0;
        view.setAttribute('aria-label', 'stepper');
        view.setAttribute('role', 'group');
        view.addEventListener('keydown', event => this.key(event));
        view.append(this.root.querySelector('.stepper-files'));
        this.root.append(list);
        list.open = false;
        this.root.classList.add('stepper-on');
    };

    Stepper.prototype.buildMemory = function () {
        this.cells = this.data.regions.map(([space, name, first, count, start], region) => {
            const cells = [], last = start + count - 1;
            const title = (name || 'unnamed') + (space === SHARED ? ', shared' : ', global') +
                (count > 1 ? ', words ' + start + ' to ' + last : '');
            const row = element('div', {class: 'stepper-cells',
                style: '--cell: ' + (this.longest(region) + String(last).length + 1) + 'ch'});

            for (let i = start; i <= last; i++) {
                cells.push(element('span', {title: name + ' word ' + i, 'data-i': count > 1 ? i : ''}, '\u00b7'));
                row.append(cells[cells.length - 1]);
            }
            this.memory.append(element('div', {class: 'stepper-region', 'data-region': name},
                element('p', {}, title), row));
            return cells;
        });
    };

    /* Returns the length in characters of the longest text that a region has in any step. */
    Stepper.prototype.longest = function (region) {
        const texts = this.data.events.flatMap(
            event => event.words && event.region.includes(region) ? event.words.flat() : []);

        return texts.reduce((most, text) => Math.max(most, text === null ? 1 : text.length), 1);
    };

    Stepper.prototype.key = function (event) {
        const native = event.target.matches('button, select, input');
        const moves = {ArrowRight: () => this.position + 1, ArrowLeft: () => this.position - 1, Home: () => 0,
                       End: () => this.steps.length};

        if (event.altKey || event.ctrlKey || event.metaKey)
            return;
        if (event.key === ' ' && !event.target.matches('button, select'))
            this.toggle();
        else if (event.key in moves && !(native && !event.target.matches('button')))
            this.stopAt(moves[event.key]);
        else
            return;
        event.preventDefault();
    };

    /* --- parts that change with a step --- */

    Stepper.prototype.show = function () {
        const at = this.position === 0 ? -1 : this.steps[this.position - 1];
        const event = at < 0 ? null : this.data.events[at];
        const playing = this.timer !== null;

        this.playButton.textContent = playing ? 'Pause' : 'Play';
        this.playButton.setAttribute('aria-label', playing ? 'Pause (space)' : 'Play (space)');
        this.playButton.title = playing ? 'Pause (space)' : 'Play (space)';
        this.slider.value = this.position;
        this.slider.setAttribute('aria-valuetext', 'step ' + this.position + ' of ' + this.steps.length);
        this.count.textContent = this.position + ' / ' + this.steps.length;
        this.summary.textContent = !event                               ? 'Nothing has happened yet.'
                                   : this.position < this.steps.length ? this.texts[at]
                                                                        : 'The end: all warps of the block are done.';
        this.root.dataset.position = this.position;
        this.showLanes(event);
        this.showWarps(at);
        this.showMemory(event, at);
        this.showSource(event);
    };

    /* Draws one row of cells. */
    Stepper.prototype.drawRow = function (y, label, texts, strong) {
        this.lanes.append(drawn('text', {x: 4, y: y + 16, class: 'label'}, label));
        for (let lane = 0; lane < LANES; lane++) {
            const text = texts[lane];
            const kind = text === null ? 'none' : strong && strong[lane] ? 'strong' : 'some';

            this.lanes.append(drawn('rect', {x: LEFT + lane * CELL, y, width: CELL - 2, height: 22, class: kind}));
            if (text !== null) {
                const shorter = short(text), tight = shorter.length * CHARACTER > CELL - 4;
                const value = drawn('text', {x: LEFT + lane * CELL + CELL / 2 - 1, y: y + 16, class: 'value',
                    ...(tight ? {textLength: CELL - 5, lengthAdjust: 'spacingAndGlyphs'} : {})}, shorter);

                value.append(drawn('title', {}, text));
                this.lanes.append(value);
            }
        }
    };

    Stepper.prototype.drawArrows = function (y, height, event) {
        const x = lane => LEFT + lane * CELL + CELL / 2 - 1;

        for (let lane = 0; lane < LANES; lane++) {
            const from = event.from[lane];

            if (from === null)
                continue;
            const kind = event.receives[lane] === event.brings[lane] ? 'same' : 'other';
            const d = `M${x(from)} ${y}L${x(lane)} ${y + height - 6}`;

            this.lanes.append(drawn('path', {d, class: 'line ' + kind}));
            this.lanes.append(drawn('path', {d: `M${x(lane) - 4} ${y + height - 7}h8l-4 7z`, class: 'head ' + kind}));
        }
    };

    Stepper.prototype.drawNumbers = function () {
        this.lanes.append(drawn('text', {x: 4, y: 14, class: 'label'}, 'lane'));
        for (let lane = 0; lane < LANES; lane++)
            this.lanes.append(drawn('text', {x: LEFT + lane * CELL + CELL / 2 - 1, y: 14, class: 'number'}, lane));
    };

    Stepper.prototype.showLanes = function (event) {
        const none = new Array(LANES).fill(null);
        const here = event && (event.warp === this.warp || event.kind === BLOCK_BARRIER) ? event : null;

        this.lanes.replaceChildren(drawn('title', {}, this.summary.textContent));
        this.lanes.setAttribute('viewBox', `0 0 ${LEFT + LANES * CELL} ${this.height}`);
        this.drawNumbers();
        if (!here || here.kind === BLOCK_BARRIER || here.kind === WARP_BARRIER || here.kind === RETURN) {
            const word = !here ? null : here.kind === RETURN ? 'done' : 'waits';

            this.drawRow(22, here && here.kind !== RETURN ? 'barrier' : '',
                none.map((_, lane) => word && takesPart(here, lane) ? word : null));
        } else if (here.kind === SHUFFLE) {
            const strong = here.receives.map((text, lane) => text !== null && text !== here.brings[lane]);

            this.drawRow(22, 'brings', here.brings);
            this.drawArrows(46, 50, here);
            this.drawRow(98, 'receives', here.receives, strong);
        } else if (here.kind === VOTE) {
            this.drawRow(22, 'brings', here.brings);
            this.drawRow(98, 'receives', here.receives);
        } else if (here.kind === MMA || here.kind === MATRIX_MEMORY) {
            this.showMatrices(here);
        } else if (here.rows) {
            here.rows.forEach(([label, texts], i) => this.drawRow(22 + 24 * i, label, texts));
        } else {
            const loads = LOADS.includes(here.kind);

            this.drawRow(22, 'word', here.place);
            const label = {[ATOMIC]: 'was there', [COPY_TO]: 'comes'}[here.kind] || (loads ? 'reads' : 'writes');

            rowsOf(here).forEach((word, i) => {
                this.drawRow(48 + 24 * i, i > 0 ? '' : label, word, loads ? null : word.map(text => text !== null));
            });
        }
    };

    /* Shows each lane's part of the 16x8 sums of an mma, or of the matrices that ldmatrix loads. */
    Stepper.prototype.showMatrices = function (event) {
        const each = text => Array.from({length: LANES}, (_, lane) => takesPart(event, lane) ? text(lane) : null);
        const row = lane => Math.floor(lane / 4), column = lane => 2 * (lane % 4);

        if (event.fragments) {
            rowsOf(event).forEach((word, i) => this.drawRow(22 + 24 * i, i > 0 ? '' : 'receives', word));
        } else if (event.operation === 'mma.m16n8k16') {
            this.drawRow(22, 'its rows', each(lane => row(lane) + ', ' + (row(lane) + 8)));
            this.drawRow(46, 'columns', each(lane => column(lane) + ', ' + (column(lane) + 1)));
        } else {
            this.drawRow(22, 'together', each(() => 'meets'));
        }
    };

    /* Returns the state of each warp after event number `at`. */
    Stepper.prototype.warpStates = function (at) {
        const events = this.data.events;
        const states = [];

        for (let warp = 0; warp < this.data.warps; warp++) {
            let last = null, next = null;

            for (let i = 0; i < events.length; i++) {
                if (events[i].warp !== warp && events[i].kind !== BLOCK_BARRIER)
                    continue;
                if (i <= at)
                    last = events[i];
                else if (!next)
                    next = events[i];
            }
            if (!next)
                states.push(['left', 'done']);
            else if (next.kind === BLOCK_BARRIER)
                states.push(['waits', 'waiting at barrier ' + next.barrier]);
            else if (next.waits)
                states.push(['waits', 'waiting at line ' + next.line]);
            else if (!last)
                states.push(['ready', 'at the beginning']);
            else if (last.kind === BLOCK_BARRIER)
                states.push(['ready', 'past barrier ' + last.barrier]);
            else
                states.push(['works', 'at line ' + last.line]);
        }
        return states;
    };

    Stepper.prototype.showWarps = function (at) {
        const states = this.warpStates(at);
        const chips = [];

        for (let first = 0, past; first < states.length; first = past) {
            past = first + 1;
            while (past < states.length && states[past][1] === states[first][1] &&
                   first !== this.warp && past !== this.warp)
                past++;
            const name = past - first === 1 ? 'warp ' + first : 'warps ' + first + ' to ' + (past - 1);
            const chip = element('span', {class: states[first][0]}, name + ': ' + states[first][1]);

            if (first === this.warp)
                chip.classList.add('chosen');
            chips.push(chip);
        }
        this.warps.replaceChildren(...chips);
    };

    Stepper.prototype.showMemory = function (event, at) {
        const shown = this.words.map(words => [...words]);
        let touched = null;

        if (at < this.written) {
            this.words.forEach(words => words.fill(null));
            this.written = -1;
        }
        write(this.data, this.words, this.written + 1, at);
        this.written = at;
        this.words.forEach((words, region) => words.forEach((word, i) => {
            if (word !== shown[region][i])
                this.cells[region][i].textContent = word === null ? '\u00b7' : word;
        }));
        this.marked.forEach(cell => { cell.className = ''; });
        this.marked = [];
        ((event && event.copied) || []).forEach(([region, from, end]) =>
            this.cells[region].slice(from, end).forEach(cell => {
                cell.className = 'written';
                this.marked.push(cell);
                touched = touched || cell;
            }));
        if (event && event.region) {
            const kind = LOADS.includes(event.kind) ? 'read' : 'written';

            event.region.forEach((region, lane) => {
                for (let piece = 0; region !== null && region >= 0 && piece < event.words.length; piece++) {
                    const cell = this.cells[region][event.index[lane] + piece];

                    if (cell) {
                        cell.className = kind;
                        this.marked.push(cell);
                    }
                    touched = touched || cell;
                }
            });
        }
        this.scrollSoon(this.memory, touched);
    };

    Stepper.prototype.showSource = function (event) {
        this.root.querySelectorAll('.stepper-source .now').forEach(line => line.classList.remove('now'));
        this.files.forEach((file, i) => {
            file.hidden = event ? i !== event.file : i > 0;
        });
        if (!event || event.line === 0 || (event.warp !== this.warp && event.kind !== BLOCK_BARRIER))
            return;
        const pre = this.files[event.file].querySelector('pre');
        const line = pre.children[event.line - 1];

        line.classList.add('now');
        this.scrollSoon(pre, line);
    };

    /*
     * Scrolls a part into view inside its own box, in the next frame, when its position is known without a new layout.
     */
    Stepper.prototype.scrollSoon = function (box, part) {
        if (this.parts.size === 0)
            requestAnimationFrame(() => {
                this.parts.forEach(scrollInside);
                this.parts.clear();
            });
        this.parts.set(box, part);
    };

    /* Scrolls a box, not the page, so that a part of it is visible. */
    function scrollInside(part, box) {
        if (!part)
            return;
        const outer = box.getBoundingClientRect(), inner = part.getBoundingClientRect();

        if (inner.top < outer.top || inner.bottom > outer.bottom)
            box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
    }

    document.querySelectorAll('.stepper').forEach(root => {
        readTrace(root).then(trace => {
            const stepper = new Stepper(root, trace);

            stepper.moveTo(1); /* so that a reader sees lanes and values immediately */
            root.stepper = stepper;
        });
    });
})();
