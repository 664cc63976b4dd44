import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './Button.js';
import { Form, FormProblem, SubmitButton } from './Form.js';

interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** Called on Escape, on the cross, and on a click beside it. Undefined: it cannot be left. */
  onClose?: (() => void) | undefined;
  isWide?: boolean;
}

/**
 * A native modal dialog, open as long as it is rendered. The focus goes to the first field (or to what has `autofocus`)
 * and returns to where it was.
 */
export function Dialog({ title, children, onClose, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    const dialog = element.current!;
    dialog.showModal();
    const firstOf = (selector: string) => dialog.querySelector<HTMLElement>(selector);
    const first =
      firstOf('[autofocus]') ??
      firstOf('input:not([type=hidden]), select, textarea') ??
      firstOf('.dialog-body > :not(header) button');
    first?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? 'wide' : ''}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClose={() => {
        if (!element.current) return; // closed by its removal
        if (onClose) onClose();
        else element.current.showModal(); // a browser does not let a page refuse the second Escape
      }}
      onMouseDown={(event) => event.target === element.current && onClose?.()}
    >
      <div class="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          {onClose && (
            <button type="button" class="close" aria-label="Close" onClick={onClose}>
              ×
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** Tells the consequences. */
  children: ComponentChildren;
  /** The text of the button: "Delete webhook". */
  action: string;
  isDangerous?: boolean;
  /** The dialog closes when it resolves; an ApiError is shown in it. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something happens. The focus is on Cancel where it is dangerous. */
export function Confirm({ title, children, action, isDangerous = false, onConfirm, onClose }: ConfirmProps) {
  const confirm = async () => {
    await onConfirm();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={confirm}>
        {children}
        <FormProblem />
        <footer>
          <Button onClick={onClose} autofocus={isDangerous}>
            Cancel
          </Button>
          <SubmitButton kind={isDangerous ? 'danger' : 'primary'} autofocus={!isDangerous}>
            {action}
          </SubmitButton>
        </footer>
      </Form>
    </Dialog>
  );
}
