import { useState } from 'preact/hooks';
import type { DeliveryDetails } from '../../../client/api/types.js';
import { Code } from '../../parts/Id.js';
import { SectionTitle } from './one-page.js';

const forms = ['Formatted', 'Raw'] as const;

/** The body that is sent, the same on every attempt. */
export function Payload({ payload }: { payload: DeliveryDetails['payload'] }) {
  const [form, setForm] = useState<(typeof forms)[number]>('Formatted');
  return (
    <section aria-labelledby="payload-title">
      <div class="section-head">
        <SectionTitle id="payload-title">Payload</SectionTitle>
        <div class="choices" role="group" aria-label="Form of the payload">
          {forms.map((name) => (
            <button
              key={name}
              type="button"
              class="choice"
              aria-pressed={name === form}
              onClick={() => setForm(name)}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      <Code
        text={form === 'Raw' ? JSON.stringify(payload) : JSON.stringify(payload, null, 2)}
        label="Copy the payload"
        wrap={form === 'Raw'}
      />
    </section>
  );
}
