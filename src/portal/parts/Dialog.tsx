import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from './Button.js';
import { whenLeft } from '../router.js';
import { Form, FormProblem, isChanged, SubmitButton } from './Form.js';

interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** Called on Escape, on the cross, and on a click beside it. Undefined: it cannot be left. */
  onClose?: (() => void) | undefined;
  isWide?: boolean;
}

/**
 * A native modal dialog, open as long as it is rendered. The focus goes to the first field (or to what has `autofocus`)
 * and returns to where it was. It asks before it discards a form that was changed; a form's own Cancel does not.
 */
export function Dialog({ title, children, onClose, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [asked, setAsked] = useState<{ leave: () => void } | null>(null);
  /** Closes the dialog, or asks first, and calls `leave` once that is confirmed. Returns whether it stays open. */
  const stays = (leave = () => {}) => {
    if (!onClose) return true;
    const isLost = [...element.current!.querySelectorAll('form')].some(isChanged);
    if (isLost) setAsked({ leave });
    else onClose();
    return isLost;
  };
  useEffect(() => whenLeft(stays));
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
      // A dialog within this one is closed next; until then nothing beside it takes the focus.
      queueMicrotask(() => before instanceof HTMLElement && before.isConnected && before.focus());
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? 'wide' : ''}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        stays();
      }}
      onClose={() => {
        if (!element.current) return; // closed by its removal
        if (stays()) element.current.showModal(); // a browser does not let a page refuse the second Escape
      }}
      onMouseDown={(event) => event.target === element.current && stays()}
    >
      <div class="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          {onClose && (
            <button type="button" class="close" aria-label="Close" onClick={() => stays()}>
              ×
            </button>
          )}
        </header>
        {children}
      </div>
      {asked && (
        <Confirm
          title="Discard your changes?"
          action="Discard"
          cancel="Keep editing"
          isDangerous
          onConfirm={() => {
            onClose!();
            asked.leave();
          }}
          onClose={() => setAsked(null)}
        >
          <p>What you entered has not been saved.</p>
        </Confirm>
      )}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** Tells the consequences. */
  children: ComponentChildren;
  /** The text of the button: "Delete webhook". */
  action: string;
  cancel?: string;
  isDangerous?: boolean;
  /** The dialog closes when it resolves; an ApiError is shown in it. */
  onConfirm: () => unknown;
  onClose: () => void;
}

/** Asks before something happens. The focus is on Cancel where it is dangerous. */
export function Confirm({
  title,
  children,
  action,
  cancel = 'Cancel',
  isDangerous = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
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
            {cancel}
          </Button>
          <SubmitButton kind={isDangerous ? 'danger' : 'primary'} autofocus={!isDangerous}>
            {action}
          </SubmitButton>
        </footer>
      </Form>
    </Dialog>
  );
}
