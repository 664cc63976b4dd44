import { useFieldError } from '../../parts/Form.js';
import { wordOf } from '../../words.js';
import { notices, useStates } from './catalogue.js';

const noticeWords: Record<string, string> = {
  WEBHOOK_FAILING: 'Another webhook is failing',
  WEBHOOK_RECOVERED: 'Another webhook has recovered',
  WEBHOOK_DISABLED: 'Another webhook was disabled',
};

/** Chooses interests: all states or some of the catalogue, and notices. Names that the catalogue lacks are kept. */
export function Interests({
  chosen,
  onChange,
}: {
  chosen: string[];
  onChange: (interests: string[]) => void;
}) {
  const catalogue = useStates();
  const refusal = useFieldError('interests');
  const problem = refusal.startsWith('Must name at least one') ? 'Choose at least one state.' : refusal;
  const wantsAll = chosen.includes('*');
  const states = [
    ...new Set([...catalogue, ...chosen.filter((name) => name !== '*' && !notices.includes(name))]),
  ];
  const wantedNotices = chosen.filter((name) => notices.includes(name));
  const toggle = (name: string, isWanted: boolean) =>
    onChange(isWanted ? [...chosen, name] : chosen.filter((other) => other !== name));
  const check = (name: string, word: string) => (
    <label class="check" key={name}>
      <input
        type="checkbox"
        checked={chosen.includes(name)}
        onChange={(event) => toggle(name, event.currentTarget.checked)}
      />
      {word}
    </label>
  );
  return (
    <>
      <fieldset aria-describedby={problem ? 'interests-error' : undefined}>
        <legend>States</legend>
        <div class="choices">
          <label class="check">
            <input
              type="radio"
              name="all"
              checked={wantsAll}
              onChange={() => onChange(['*', ...wantedNotices])}
            />
            All, including those added later
          </label>
          <label class="check">
            <input
              type="radio"
              name="all"
              checked={!wantsAll}
              onChange={() => onChange([...wantedNotices])}
            />
            Only these
          </label>
        </div>
        {!wantsAll && <div class="checks">{states.map((name) => check(name, wordOf(name)))}</div>}
        {problem && (
          <p class="field-error" id="interests-error">
            {problem}
          </p>
        )}
      </fieldset>
      <fieldset>
        <legend>Notices about your other webhooks</legend>
        <div class="checks">{notices.map((name) => check(name, noticeWords[name]!))}</div>
      </fieldset>
    </>
  );
}
