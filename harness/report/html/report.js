(() => {
  'use strict';
  const $ = id => document.getElementById(id);
  const form = $('the-filter'), text = $('the-text'), section = $('the-section'), shown = $('the-shown');
  const clear = $('the-clear'), opener = $('the-opener'), keys = $('the-keys');
  const clauses = [...document.querySelectorAll('.clause')].map(at => ({
    at, id: at.id, verdicts: at.dataset.verdict.split(' '), level: at.dataset.level, section: at.dataset.section,
  }));
  const parts = [...document.querySelectorAll('.part')];
  const scenarios = [...document.querySelectorAll('.scenario')].map(at => ({at}));
  const toggles = [...form.querySelectorAll('[data-verdict], [data-level]')];
  const fold = at => at.querySelector('.body > details');

  // What is asked for. It stands in the address as #ANCHOR?verdict=…&level=…&section=…&text=…
  const wanted = {verdict: new Set(), level: new Set(), section: '', text: ''};
  const asked = () => wanted.verdict.size + wanted.level.size > 0 || wanted.section !== '' || wanted.text !== '';

  const address = () => {
    const [anchor, query] = location.hash.slice(1).split(/\?(.*)/s);
    return {anchor, query: new URLSearchParams(query || ''), filtered: query !== undefined};
  };
  const element = anchor => {
    try { return anchor && $(decodeURIComponent(anchor)); } catch { return null; }
  };
  const write = anchor => {
    const query = new URLSearchParams();
    if (wanted.verdict.size) query.set('verdict', [...wanted.verdict].join(','));
    if (wanted.level.size) query.set('level', [...wanted.level].join(','));
    if (wanted.section) query.set('section', wanted.section);
    if (wanted.text) query.set('text', wanted.text);
    const hash = anchor + (asked() ? '?' + query : '');
    if (hash !== location.hash.slice(1)) history.replaceState(null, '', '#' + hash);
  };
  const read = () => {
    const {query} = address();
    const list = name => new Set((query.get(name) || '').split(',').filter(v => toggles.some(b => b.dataset[name] === v)));
    wanted.verdict = list('verdict');
    wanted.level = list('level');
    wanted.section = [...section.options].some(o => o.value === query.get('section')) ? query.get('section') : '';
    wanted.text = query.get('text') || '';
  };

  const words = entry => entry.words ??= entry.at.textContent.replace(/\s+/g, ' ').toLowerCase();
  const judges = scenario => scenario.judges ??= [...scenario.at.querySelectorAll(':scope > .judges a')].map(a => decodeURIComponent(a.hash.slice(1)));
  const counted = (n, all, noun) => (n === all ? n : n + ' of ' + all) + ' ' + noun + (all === 1 ? '' : 's');

  const show = () => {
    const needle = wanted.text.replace(/\s+/g, ' ').trim().toLowerCase();
    const has = entry => needle === '' || words(entry).includes(needle);
    const visible = new Set();
    for (const c of clauses) {
      const in_ = wanted.section === '' || c.section === wanted.section || c.section.startsWith(wanted.section + '.');
      const on = in_ && (wanted.verdict.size === 0 || c.verdicts.some(v => wanted.verdict.has(v))) &&
        (wanted.level.size === 0 || wanted.level.has(c.level)) && has(c);
      c.at.hidden = !on;
      if (on) visible.add(c.id);
    }
    for (const p of parts) p.hidden = !p.querySelector('.clause:not([hidden])');
    const onlyText = wanted.verdict.size + wanted.level.size === 0 && wanted.section === '';
    let n = 0;
    for (const s of scenarios) {
      const on = !asked() || judges(s).some(id => visible.has(id)) || onlyText && has(s);
      s.at.hidden = !on;
      if (on) n++;
    }
    for (const b of toggles) {
      const kind = b.dataset.verdict ? 'verdict' : 'level';
      b.setAttribute('aria-pressed', wanted[kind].has(b.dataset[kind]));
    }
    section.value = wanted.section;
    if (document.activeElement !== text) text.value = wanted.text;
    clear.disabled = !asked();
    say(counted(visible.size, clauses.length, 'clause') + ', ' + counted(n, scenarios.length, 'scenario'));
    label();
  };
  const say = message => { if (shown.textContent !== message) shown.textContent = message; };

  const change = () => { write(address().anchor); show(); };
  for (const b of toggles) b.addEventListener('click', () => {
    const kind = b.dataset.verdict ? 'verdict' : 'level', value = b.dataset[kind];
    if (!wanted[kind].delete(value)) wanted[kind].add(value);
    change();
  });
  section.addEventListener('change', () => { wanted.section = section.value; change(); });
  text.addEventListener('input', () => { wanted.text = text.value; change(); });
  const clearAll = () => {
    wanted.verdict.clear();
    wanted.level.clear();
    wanted.section = wanted.text = text.value = '';
    change();
  };
  clear.addEventListener('click', () => { clearAll(); text.focus(); });
  form.addEventListener('submit', e => e.preventDefault());

  // Opening: all of what is shown, or what the address leads to.
  const onScreen = () => clauses.filter(c => !c.at.hidden);
  const label = () => { opener.textContent = onScreen().every(c => fold(c.at).open) ? 'Close all' : 'Open all'; };
  opener.addEventListener('click', () => {
    const open = opener.textContent === 'Open all';
    for (const c of onScreen()) fold(c.at).open = open;
    label();
  });
  const reveal = scroll => {
    const {anchor} = address(), at = element(anchor);
    if (!at) return;
    const holder = at.closest('.clause, .scenario, .part');
    if (holder && (holder.hidden || holder.parentElement.hidden)) {
      clearAll();
      say('The filter is cleared: it did not show ' + (holder.querySelector('h3, h2').innerText || anchor));
    }
    for (let d = at.closest('.clause') ? fold(at.closest('.clause')) : at; d; d = d.parentElement && d.parentElement.closest('details')) {
      if (d.tagName === 'DETAILS') d.open = true;
    }
    for (let d = at.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
    if (scroll) at.scrollIntoView();
  };
  const bar = () => {
    const sticky = getComputedStyle(form).position === 'sticky';
    document.documentElement.style.setProperty('scroll-padding-top', sticky ? form.offsetHeight + 'px' : '0px');
  };

  window.addEventListener('hashchange', () => {
    const {anchor, filtered} = address();
    if (filtered) { read(); show(); } else if (asked()) write(anchor); // a link to a clause leaves the filter as it is
    reveal(filtered);
  });

  // Keys. They can be turned off, since speech input presses them by accident.
  const focusable = c => c.at.querySelector('h3 a');
  const step = by => {
    const list = onScreen();
    const holder = document.activeElement && document.activeElement.closest('.clause');
    let i = list.findIndex(c => c.at === holder);
    if (i >= 0) i += by;
    else {
      const below = list.findIndex(c => c.at.getBoundingClientRect().top >= 0);
      i = by > 0 ? below : (below < 0 ? list.length : below) - 1;
    }
    const next = list[i];
    if (!next) return;
    focusable(next).focus({preventScroll: true});
    next.at.scrollIntoView();
  };
  let on = true;
  keys.addEventListener('click', () => {
    on = !on;
    keys.textContent = on ? 'Keys: on' : 'Keys: off';
    $('the-keyhelp').hidden = !on;
  });
  document.addEventListener('keydown', e => {
    if (e.key === 'Escape' && e.target === text) { text.blur(); return; }
    if (!on || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.target.closest('input, select, textarea')) return;
    switch (e.key) {
      case '/': text.focus(); text.select(); break;
      case 'j': step(1); break;
      case 'k': step(-1); break;
      case 'o': {
        const holder = document.activeElement.closest('.clause');
        if (!holder) return;
        fold(holder).open = !fold(holder).open;
        break;
      }
      default: return;
    }
    e.preventDefault();
  });

  // Commands can be copied.
  const copyBySelection = code => {
    const range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand('copy');
  };
  for (const code of document.querySelectorAll('.repro')) {
    const b = document.createElement('button');
    b.type = 'button';
    b.className = 'copy';
    b.textContent = 'Copy';
    b.setAttribute('aria-label', 'Copy the command');
    code.after(b);
  }
  document.addEventListener('click', async e => {
    const b = e.target.closest('.copy');
    if (!b) return;
    const code = b.previousElementSibling;
    let done = false;
    try { await navigator.clipboard.writeText(code.textContent); done = true; } catch { done = copyBySelection(code); }
    b.textContent = done ? 'Copied' : 'Selected: copy it with the keyboard';
    say(done ? 'The command is copied.' : 'The command is selected.');
    b.addEventListener('blur', () => { b.textContent = 'Copy'; }, {once: true});
  });

  form.hidden = false;
  $('the-counts').hidden = true;
  bar();
  window.addEventListener('resize', bar);
  read();
  show();
  reveal(address().filtered);
})();
