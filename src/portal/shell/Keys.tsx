import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../parts/Dialog.js';
import { Fact } from '../parts/Page.js';

const isListOpen = signal(false);

/** Speech input, for one, may press keys by accident: WCAG 2.1.4 asks that single keys can be turned off. */
const name = 'parcelhook.keys';
const areOn = signal(localStorage.getItem(name) !== 'off');

function turn(on: boolean): void {
  areOn.value = on;
  if (on) localStorage.removeItem(name);
  else localStorage.setItem(name, 'off');
}

/** Each returns whether it did anything; if not, the key is the browser's. */
const actions: Record<string, () => boolean> = {
  '/': () => {
    const field = document.querySelector<HTMLElement>('main [aria-keyshortcuts="/"]');
    field?.focus();
    if (field instanceof HTMLInputElement) field.select();
    return field !== null;
  },
  j: () => moveBy(1),
  k: () => moveBy(-1),
  '?': () => (isListOpen.value = true),
};

/** Goes from the row with the focus, or whose delivery is open, to another; if there is none, to the first in view. */
function moveBy(step: 1 | -1): boolean {
  const rows = [
    ...document.querySelectorAll<HTMLElement>('main :is(tbody tr, .told > li, .arrived > li)'),
  ].filter((row) => row.checkVisibility());
  const current =
    rows.find((row) => row.contains(document.activeElement)) ?? rows.find((row) => row.matches('.selected'));
  const next = current
    ? (rows[rows.indexOf(current) + step] ?? current)
    : (rows.find((row) => row.getBoundingClientRect().top >= 0) ?? rows[0]);
  next?.querySelector<HTMLElement>('a, summary, button')?.focus();
  return next !== undefined;
}

const typesInto = 'input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]';

function press(event: KeyboardEvent): void {
  const { key, target, defaultPrevented, isComposing, ctrlKey, metaKey, altKey } = event;
  if (!areOn.value || !Object.hasOwn(actions, key) || defaultPrevented || isComposing) return;
  if (ctrlKey || metaKey || altKey || (target as Element).matches(typesInto)) return;
  if (document.querySelector('dialog[open], :popover-open')) return;
  if (actions[key]!()) event.preventDefault();
}

export const KeysButton = () => (
  <button
    type="button"
    class="keys-button"
    title="Keyboard shortcuts"
    aria-label="Keyboard shortcuts"
    onClick={() => (isListOpen.value = true)}
  >
    <kbd>?</kbd>
  </button>
);

/** Keys for all places, which work where nothing is typed and no dialog is open; and their list. */
export function Keys() {
  useEffect(() => {
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  if (!isListOpen.value) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (isListOpen.value = false)}>
      <dl class="facts keys">
        {list.map(([keys, what]) => (
          <Fact
            key={keys}
            name={keys.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          >
            {what}
          </Fact>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={areOn.value}
          onChange={({ currentTarget: { checked } }) => turn(checked)}
        />
        <span>
          Use <kbd>/</kbd> <kbd>j</kbd> <kbd>k</kbd> <kbd>?</kbd> in this browser
        </span>
      </label>
    </Dialog>
  );
}

const list = [
  ['/', 'Find: go to the search or the filter of this page'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close what is open'],
  ['?', 'This list'],
] as const;
