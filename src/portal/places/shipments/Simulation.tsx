import { useState } from 'preact/hooks';
import type { Journey } from '../../../client/api/types.js';
import { call } from '../../api.js';
import { Button } from '../../parts/Button.js';
import { wordOf } from '../../words.js';
import { countText } from '../../units.js';

interface Props {
  trackingId: string;
  /** States that may follow. */
  next: string[];
  onBegun: () => Promise<void>;
}

/** Takes the shipment on, where parcels are not real: all the way, or by one state. */
export function Simulation({ trackingId, next, onBegun }: Props) {
  const [begun, setBegun] = useState('');
  const simulate = async (body: object) => {
    const { states, intervalMs } = await call<Journey>('POST', `/v1/shipments/${trackingId}/simulate`, body);
    const seconds = intervalMs / 1_000;
    setBegun(
      states.length === 1
        ? `On its way to ${wordOf(states[0]!)}.`
        : `On its way through ${countText(states.length, 'state', 'states')}, one every ${seconds} s.`,
    );
    await onBegun();
  };
  return (
    <section class="panel" aria-labelledby="simulate-title">
      <h2 id="simulate-title">Simulate</h2>
      <p class="soft">Your webhooks are told as if the parcel had moved.</p>
      <div class="simulate">
        <Button kind="primary" onClick={() => simulate({ intervalMs: 2_000 })}>
          Run to Delivered
        </Button>
        <div class="simulate-next" role="group" aria-label="One state">
          {next.map((state) => (
            <Button key={state} class="small" onClick={() => simulate({ states: [state] })}>
              {wordOf(state)}
            </Button>
          ))}
        </div>
      </div>
      <p role="status">{begun}</p>
    </section>
  );
}
