import { useId } from 'preact/hooks';

interface Props {
  label: string;
  /** ISO 8601, or empty. */
  value: string;
  onInput: (value: string) => void;
}

/** A moment in the reader's own time zone. */
export function MomentField({ label, value, onInput }: Props) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        step="1"
        value={inputOfMoment(value)}
        onInput={(event) => onInput(momentOfInput(event.currentTarget.value) ?? '')}
      />
    </div>
  );
}

/** Null if there is no moment. */
export function momentOfInput(text: string): string | null {
  const ms = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** The moment as `datetime-local` takes it: local, without an offset. */
function inputOfMoment(moment: string): string {
  const at = Date.parse(moment);
  if (Number.isNaN(at)) return '';
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 19);
}
