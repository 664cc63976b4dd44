import { signal } from '@preact/signals';

type Kind = 'good' | 'bad';
const toasts = signal<{ id: number; text: string; kind: Kind }[]>([]);
let lastId = 0;

/** Says something in a corner of the page, and to a screen reader. Errors stay until they are closed. */
export function showToast(text: string, kind: Kind = 'good'): void {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(-2), { id, text, kind }];
  if (kind === 'good') setTimeout(() => close(id), 5_000);
}

const close = (id: number) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

const announcement = signal('');

/** Says something to a screen reader only, such as that new rows are there. */
export function announce(text: string): void {
  announcement.value = text;
}

/** Rendered once, in the shell. */
export function Toasts() {
  return (
    <div class="toasts">
      <p class="unseen" aria-live="polite">
        {announcement}
      </p>
      <div role="status">
        {toasts.value.map(({ id, text, kind }) => (
          <p class={`toast ${kind}`} key={id}>
            {text}
            <button class="close" type="button" aria-label="Close" onClick={() => close(id)}>
              ×
            </button>
          </p>
        ))}
      </div>
    </div>
  );
}
