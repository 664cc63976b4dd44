import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

/** A button that opens further actions below it. A click on one closes them. */
export function Menu({ label, children }: { label: string; children: ComponentChildren }) {
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const place = () => {
    const { bottom, left, right } = button.current!.getBoundingClientRect();
    const { clientWidth } = document.documentElement;
    const isAtLeft = left + right < clientWidth; // on a phone, where it would go beyond that edge
    Object.assign(list.current!.style, {
      top: `${bottom + 4}px`,
      left: isAtLeft ? `${left}px` : 'auto',
      right: isAtLeft ? 'auto' : `${Math.max(8, clientWidth - right)}px`,
    });
  };
  return (
    <>
      <button type="button" class="button plain" ref={button} popovertarget="more-actions" onClick={place}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      <div
        id="more-actions"
        class="menu below"
        popover="auto"
        ref={list}
        onClick={() => list.current!.hidePopover()}
      >
        {children}
      </div>
    </>
  );
}
