/**
 * The search of `/docs` and `/docs/operator`. It hides the sections and entries that do not match, and scrolls to the
 * first match, which Enter opens. The page holds this script (`src/http/docs/build.js`); without it the page is a plain list.
 */
const find = <T extends Element>(selector: string) => document.querySelector<T>(selector)!;
const box = find<HTMLInputElement>('#search');
const found = find('#found');

/** An entry, or a section without its entries. */
interface Place {
  element: HTMLElement;
  /** Has the focus when the place is opened. */
  heading: HTMLElement;
  id: string;
  /** In lower case. */
  title: string;
  /** In lower case: the title and the rest. The examples of an entry are left out. */
  text: string;
}

const wordsOf = (elements: Iterable<Element>) =>
  [...elements]
    .map(({ textContent }) => textContent)
    .join(' ')
    .toLowerCase();

function placeOf(element: HTMLElement): Place {
  const isEntry = element.matches('.entry');
  const heading = element.querySelector<HTMLElement>(isEntry ? 'summary' : 'h1, h2')!;
  if (!isEntry) heading.tabIndex = -1;
  const { id } = isEntry ? element.querySelector('[id]')! : element;
  const said = isEntry
    ? element.querySelectorAll('p, th, td')
    : [...element.children].filter((child) => !child.matches('.entry'));
  const title = `${wordsOf([heading])} ${id.toLowerCase()}`;
  return { element, heading, id, title, text: `${title} ${wordsOf(said)}` };
}

const places = [...document.querySelectorAll<HTMLElement>('section, .entry')].map(placeOf);

/** Those with every word; first those that have them in their title. */
function matchesOf(query: string): Place[] {
  const words = query.toLowerCase().split(/\s+/);
  const having = (field: 'title' | 'text') =>
    places.filter((place) => words.every((word) => place[field].includes(word)));
  return [...new Set([...having('title'), ...having('text')])];
}

let matches: Place[] = [];

function search(): void {
  const query = box.value.trim();
  matches = matchesOf(query);
  for (const { element } of places) element.hidden = true;
  for (const { element } of matches) {
    element.hidden = false;
    element.closest('section')!.hidden = false;
  }
  for (const item of document.querySelectorAll<HTMLElement>('.contents li')) {
    const target = document.getElementById(item.querySelector('a')!.hash.slice(1));
    item.hidden = !target || target.closest('[hidden]') !== null;
  }
  found.textContent = query === '' ? '' : matches.length === 0 ? 'Nothing found' : `${matches.length} found`;
  if (query === '') return;
  const [first] = matches;
  if (first) first.element.scrollIntoView();
  else scrollTo({ top: 0 });
}

function clear(): void {
  box.value = '';
  search();
}

function open({ element, heading, id }: Place): void {
  if (element instanceof HTMLDetailsElement) element.open = true;
  location.hash = id;
  heading.focus({ preventScroll: true });
}

box.addEventListener('input', search);
box.addEventListener('keydown', (event) => {
  const first = matches[0];
  if (event.key === 'Escape') clear();
  else if (event.key === 'Enter' && box.value.trim() !== '' && first) open(first);
  else if (event.key === 'ArrowDown' && first) first.heading.focus();
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
for (const { element, heading, id } of places)
  if (element instanceof HTMLDetailsElement)
    heading.addEventListener('click', () => {
      if (!element.open) history.replaceState(null, '', `#${id}`);
    });

/** A link may lead to what the search has hidden. */
addEventListener('click', ({ target }) => {
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
  if (link && document.getElementById(link.hash.slice(1))?.closest('[hidden]')) clear();
});

/** For Back to what the search has hidden, and for a browser that does not open what a link leads to. */
function reveal(): void {
  const target = document.querySelector(':target');
  const details = target?.closest('details');
  const isHidden = target?.closest('[hidden]');
  if (isHidden) clear();
  if (!target || !(isHidden || details?.open === false)) return;
  if (details) details.open = true;
  target.scrollIntoView();
}
addEventListener('hashchange', reveal);

box.parentElement!.hidden = false;
// The browser may have kept what was typed.
search();
reveal();
