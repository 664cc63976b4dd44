import type { LiveList } from './live.js';
import { Button } from '../parts/Button.js';

interface Props {
  list: Pick<LiveList<unknown>, 'shown' | 'showNewest' | 'list'>;
  isLive: boolean;
  onLive: (isLive: boolean) => void;
}

/** The bar above a live list: new rows wait here until the reader asks for them, and a switch pauses the list. */
export function LiveBar({ list: { shown, showNewest, list }, isLive, onLive }: Props) {
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
        onClick={() => onLive(!isLive)}
      >
        Live
      </button>
      {!isLive && <span class="soft">Paused</span>}
      {newCount > 0 ? (
        <Button class="small new-rows" onClick={show}>
          {`${newCount}${isNewCapped ? '+' : ''} new`}
        </Button>
      ) : (
        isTrimmed && (
          <Button class="small new-rows" onClick={show}>
            Back to the newest
          </Button>
        )
      )}
    </div>
  );
}
