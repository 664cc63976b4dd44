import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { announce, showToast } from './Toast.js';

/** Copies `text`. `label` names it to a screen reader: "Copy the secret". */
export function Copy({
  text,
  label,
  children,
}: {
  text: string;
  label: string;
  children?: ComponentChildren;
}) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
      announce('Copied');
      setTimeout(() => setIsCopied(false), 1_500);
    } catch {
      showToast('The browser does not allow copying. Select the text instead.', 'bad');
    }
  };
  return (
    <button
      type="button"
      class={`copy ${isCopied ? 'copied' : ''}`}
      aria-label={label}
      title={label}
      onClick={() => void copy()}
    >
      {children ?? (
        <svg viewBox="0 0 16 16" aria-hidden="true">
          {isCopied ? <path d="M3 8.5 6.5 12 13 4.5" /> : <path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" />}
        </svg>
      )}
    </button>
  );
}

/** An id in monospace with a copy button. `short` shows its last 8 characters; the whole is in the title. */
export function Id({
  id,
  label = 'Copy the id',
  short = false,
}: {
  id: string;
  label?: string;
  short?: boolean;
}) {
  return (
    <span class="id">
      <code title={id}>{short ? `…${id.slice(-8)}` : id}</code>
      <Copy text={id} label={label} />
    </span>
  );
}

interface CodeProps {
  text: string;
  /** Default: the text as it is shown. */
  copied?: string;
  label: string;
  wrap?: boolean;
}

/** Text to copy, such as a command. */
export function Code({ text, copied = text, label, wrap = false }: CodeProps) {
  return (
    <div class="code">
      <pre class={wrap ? 'wrap' : ''} tabIndex={0} role="region" aria-label={label.replace(/^Copy /, '')}>
        <code>{text}</code>
      </pre>
      <Copy text={copied} label={label} />
    </div>
  );
}
