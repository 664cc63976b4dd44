/**
 * The search of `/docs` and `/docs/operator`. It hides the entries that do not match; Enter opens the first match. The page
 * holds this script (`src/http/docs/build.js`); without it the page is a plain list.
 */
const find = <T extends Element>(selector: string) => document.querySelector<T>(selector)!;
const box = find<HTMLInputElement>('#search');
const found = find('#found');

interface Entry {
  details: HTMLDetailsElement;
  summary: HTMLElement;
  id: string;
  /** In lower case. */
  title: string;
  /** In lower case: the title, what it does, and the names of its fields. */
  text: string;
}

const wordsOf = (elements: Iterable<Element>) =>
  [...elements]
    .map(({ textContent }) => textContent)
    .join(' ')
    .toLowerCase();

const entries = [...document.querySelectorAll<HTMLDetailsElement>('details.entry')].map((details): Entry => {
  const summary = details.querySelector('summary')!;
  const { id } = details.querySelector('[id]')!;
  const title = `${wordsOf([summary])} ${id.toLowerCase()}`;
  return { details, summary, id, title, text: `${title} ${wordsOf(details.querySelectorAll('p, th'))}` };
});

/** Those with every word; first those that have them in their title. */
function matchesOf(query: string): Entry[] {
  const words = query.toLowerCase().split(/\s+/);
  const having = (field: 'title' | 'text') =>
    entries.filter((entry) => words.every((word) => entry[field].includes(word)));
  return [...new Set([...having('title'), ...having('text')])];
}

let matches: Entry[] = [];

function search(): void {
  const query = box.value.trim();
  matches = matchesOf(query);
  const shown = new Set(matches);
  for (const entry of entries) entry.details.hidden = !shown.has(entry);
  for (const section of document.querySelectorAll('section'))
    section.hidden = query !== '' && !section.querySelector('.entry:not([hidden])');
  for (const item of document.querySelectorAll<HTMLElement>('.contents li')) {
    const target = document.getElementById(item.querySelector('a')!.hash.slice(1));
    item.hidden = !target || target.closest('[hidden]') !== null;
  }
  found.textContent = query === '' ? '' : matches.length === 0 ? 'Nothing found' : `${matches.length} found`;
  if (query !== '') scrollTo({ top: 0 });
}

function clear(): void {
  box.value = '';
  search();
}

function open({ details, summary, id }: Entry): void {
  details.open = true;
  location.hash = id;
  summary.focus({ preventScroll: true });
}

box.addEventListener('input', search);
box.addEventListener('keydown', (event) => {
  const first = matches[0];
  if (event.key === 'Escape') clear();
  else if (event.key === 'Enter' && box.value.trim() !== '' && first) open(first);
  else if (event.key === 'ArrowDown' && first) first.summary.focus();
  else return;
  event.preventDefault();
});

addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target === box) return;
  event.preventDefault();
  box.focus();
  box.select();
});

/** An opened entry has its address in the bar, so that it can be copied. */
for (const { details, summary, id } of entries)
  summary.addEventListener('click', () => {
    if (!details.open) history.replaceState(null, '', `#${id}`);
  });

/** A link may lead to what the search has hidden. */
addEventListener('click', ({ target }) => {
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
  if (link && document.getElementById(link.hash.slice(1))?.closest('[hidden]')) clear();
});

/** For a browser that does not open what a link leads to. */
function reveal(): void {
  const target = document.querySelector(':target');
  const details = target?.closest('details');
  if (!target || !details || details.open) return;
  details.open = true;
  target.scrollIntoView();
}
addEventListener('hashchange', reveal);
reveal();

box.parentElement!.hidden = false;
// The browser may have kept what was typed.
search();
