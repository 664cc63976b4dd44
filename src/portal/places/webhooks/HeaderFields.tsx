import { Button } from '../../parts/Button.js';
import { useFieldError } from '../../parts/Form.js';

interface HeaderRow {
  /** Identifies this row as long as the form is open. */
  id: number;
  name: string;
  value: string;
}

let lastId = 0;

export const toRows = (headers: Record<string, string>): HeaderRow[] =>
  Object.entries(headers).map(([name, value]) => ({ id: ++lastId, name, value }));

/** Rows without a name are left out. */
export const toHeaders = (rows: HeaderRow[]): Record<string, string> =>
  Object.fromEntries(
    rows.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]),
  );

/** Headers of the webhook's own. Their values come masked; sent back so, they are kept. */
export function HeaderFields({
  rows,
  onChange,
}: {
  rows: HeaderRow[];
  onChange: (rows: HeaderRow[]) => void;
}) {
  const problem = useFieldError('headers');
  const change = (id: number, changes: Partial<HeaderRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...changes } : row)));
  return (
    <fieldset aria-describedby={problem ? 'headers-error' : undefined}>
      <legend>Headers sent with each notification</legend>
      {rows.map(({ id, name, value }, index) => (
        <div class="header-row" key={id}>
          <input
            type="text"
            class="code-input"
            aria-label={`Name of header ${index + 1}`}
            placeholder="X-Team"
            value={name}
            onInput={(event) => change(id, { name: event.currentTarget.value })}
            spellcheck={false}
            autocomplete="off"
          />
          <input
            type="text"
            class="code-input"
            aria-label={`Value of header ${index + 1}`}
            value={value}
            onInput={(event) => change(id, { value: event.currentTarget.value })}
            spellcheck={false}
            autocomplete="off"
          />
          <button
            type="button"
            class="close"
            aria-label={`Remove header ${index + 1}`}
            onClick={() => onChange(rows.filter((row) => row.id !== id))}
          >
            ×
          </button>
        </div>
      ))}
      {problem && (
        <p class="field-error" id="headers-error">
          {problem}
        </p>
      )}
      <Button class="small" onClick={() => onChange([...rows, { id: ++lastId, name: '', value: '' }])}>
        Add a header
      </Button>
    </fieldset>
  );
}
