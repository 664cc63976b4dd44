import { useState } from 'preact/hooks';
import { Button } from '../parts/Button.js';
import { Select } from '../parts/Form.js';
import { query, setQuery } from '../router.js';

interface ChoiceProps {
  name: string;
  label: string;
  /** The option without the filter: "Any state". */
  all: string;
  options: readonly (readonly [value: string, text: string])[];
}

/** A filter that is in the address, where a value may stand that is not among the options. */
export function FilterChoice({ name, label, all, options }: ChoiceProps) {
  const value = query.value.get(name) ?? '';
  const isListed = options.some(([listed]) => listed === value);
  return (
    <Select
      class={value ? 'is-set' : ''}
      aria-label={label}
      value={value}
      options={options}
      onChoose={(chosen) => setQuery({ [name]: chosen })}
    >
      <option value="">{all}</option>
      {value && !isListed && <option value={value}>{value}</option>}
    </Select>
  );
}

/** A filter that no field shows, with a button that takes it away. */
export const Chip = ({ name, text }: { name: string; text: string }) => (
  <span class="chip long">
    {text}
    <button
      type="button"
      class="close"
      aria-label={`Remove: ${text}`}
      onClick={() => setQuery({ [name]: null })}
    >
      ×
    </button>
  </span>
);

export const isUuid = (text: string) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);

export const noSuchNumber = (number: string) =>
  /^PH[A-Z0-9]{1,17}$/i.test(number)
    ? 'No shipment has this number. If it is the beginning of a tracking id, enter the whole id: PH and at least 18 letters or digits.'
    : 'No shipment has this number. Upper and lower case differ. Check the number, or enter only its beginning.';

interface SearchProps {
  label: string;
  placeholder?: string;
  kind?: 'primary' | 'plain';
  /** Gets no empty text. Resolves to whether something was found: then the field is emptied. */
  onSearch: (number: string) => Promise<boolean>;
}

/** Finds shipments by their number, and deliveries by their id or their webhook-id. */
export function NumberSearch({ label, placeholder = label, kind, onSearch }: SearchProps) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const search = async () => {
    const number = text.trim();
    setProblem('');
    if (!number) return;
    if (await onSearch(number)) setText('');
    else if (isUuid(number))
      setProblem('No shipment has this number, and no delivery has this id or webhook-id.');
    else setProblem(noSuchNumber(number));
  };
  return (
    <form
      class="number-search"
      onSubmit={(event) => {
        event.preventDefault();
        event.currentTarget.querySelector('button')?.click();
      }}
    >
      <input
        type="search"
        aria-keyshortcuts="/"
        aria-label={label}
        aria-describedby={problem ? 'search-problem' : undefined}
        placeholder={placeholder}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
      <Button {...(kind && { kind })} onClick={search}>
        Find
      </Button>
      {problem && (
        <p role="alert" id="search-problem" class="field-error long">
          {problem}
        </p>
      )}
    </form>
  );
}
