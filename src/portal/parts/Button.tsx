import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isApiError } from '../api.js';
import { showToast } from './Toast.js';

type Props = Omit<JSX.IntrinsicElements['button'], 'onClick' | 'children'> & {
  children: ComponentChildren;
  kind?: 'primary' | 'danger' | 'plain' | 'quiet';
  /** The button is busy until the promise settles. An ApiError is shown as a toast. */
  onClick?: (event: MouseEvent) => unknown;
  /** Busy for another reason, such as a form that is being sent. */
  isBusy?: boolean;
};

/** A busy button keeps its focus and its width, and does nothing. */
export function Button({ kind = 'plain', isBusy = false, onClick, children, ...attributes }: Props) {
  const [isRunning, setIsRunning] = useState(false);
  const busy = isBusy || isRunning;
  const run = async (event: MouseEvent) => {
    if (busy) return event.preventDefault();
    const result = onClick?.(event);
    if (!(result instanceof Promise)) return;
    setIsRunning(true);
    try {
      await result;
    } catch (error) {
      if (!isApiError(error)) throw error;
      showToast(error.message, 'bad');
    } finally {
      setIsRunning(false);
    }
  };
  return (
    <button
      type="button"
      {...attributes}
      class={`button ${kind} ${busy ? 'busy' : ''} ${(attributes.class as string | undefined) ?? ''}`}
      aria-disabled={busy || undefined}
      onClick={(event) => void run(event)}
    >
      {children}
    </button>
  );
}

/** Buttons of which one is pressed. */
export function Choices<Name extends string>(props: {
  label: string;
  names: readonly Name[];
  chosen: Name;
  onChoose: (name: Name) => void;
  /** The key that moves the focus to the pressed one. */
  shortcut?: string;
}) {
  return (
    <div class="choices" role="group" aria-label={props.label}>
      {props.names.map((name) => (
        <button
          key={name}
          type="button"
          class="choice"
          aria-pressed={name === props.chosen}
          aria-keyshortcuts={name === props.chosen ? props.shortcut : undefined}
          onClick={() => props.onChoose(name)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
