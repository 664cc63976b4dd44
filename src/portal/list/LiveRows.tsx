import type { ComponentChildren } from 'preact';
import { Button } from '../parts/Button.js';
import { LoadError, Loading } from '../parts/Page.js';
import type { LiveList } from './live.js';

interface Props<Row> {
  live: LiveList<Row>;
  /** It is shown for its error, instead of the API's words. */
  error?: ComponentChildren;
  older?: string;
  /** At the end of the bar. */
  actions?: ComponentChildren;
  /** The rows, once they are read. */
  children: ComponentChildren;
}

/** A list that is read again and again, page by page, under its bar. */
export function LiveRows<Row>({ live, error, older = 'Load older', actions, children }: Props<Row>) {
  return (
    <>
      <LiveBar {...live} actions={actions} />
      {live.error ? (
        (error ?? <LoadError error={live.error} />)
      ) : !live.shown ? (
        <Loading rows={10} />
      ) : (
        <div ref={live.list} aria-busy={live.isLoading}>
          {children}
          {live.hasOlder && (
            <p class="more">
              <Button onPointerEnter={live.expectOlder} onFocus={live.expectOlder} onClick={live.loadOlder}>
                {older}
              </Button>
            </p>
          )}
        </div>
      )}
    </>
  );
}

/** New rows wait here until they are asked for; a switch lets the list rest. */
function LiveBar<Row>({
  shown,
  showNewest,
  list,
  isLive,
  setIsLive,
  actions,
}: LiveList<Row> & Pick<Props<Row>, 'actions'>) {
  const show = async () => {
    await showNewest();
    const first = list.current?.querySelector<HTMLElement>('[data-row] a');
    first?.focus({ preventScroll: true });
    first?.closest('table')?.scrollIntoView({ block: 'nearest' });
    if (list.current && list.current.getBoundingClientRect().top < 0) scrollTo(0, 0);
  };
  const { newCount = 0, isNewCapped = false, isTrimmed = false } = shown ?? {};
  return (
    <div class="live-bar">
      <button
        type="button"
        class="live"
        aria-pressed={isLive}
        title={isLive ? 'Pause: the list stays as it is' : 'Follow what happens'}
        onClick={() => setIsLive(!isLive)}
      >
        Live
      </button>
      {!isLive && <span class="soft">Paused</span>}
      {(newCount > 0 || isTrimmed) && (
        <Button class="small new-rows" onClick={show}>
          {newCount > 0 ? `${newCount}${isNewCapped ? '+' : ''} new` : 'Back to the newest'}
        </Button>
      )}
      {actions}
    </div>
  );
}
