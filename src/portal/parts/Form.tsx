import { createContext, type ComponentChildren, type JSX } from 'preact';
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isApiError, type ApiError } from '../api.js';
import { Button } from './Button.js';

const FormContext = createContext<{ error: ApiError | null; isBusy: boolean }>({
  error: null,
  isBusy: false,
});

interface FormProps {
  children: ComponentChildren;
  /** An ApiError is shown: its details at their fields, the rest above the buttons. */
  onSubmit: () => unknown;
  class?: string;
}

/** The contents of each form when it was shown or last sent. */
const kept = new WeakMap<HTMLFormElement, string>();

/** Everything that is filled in, whatever its order: another empty row is no change. */
const contentsOf = (form: HTMLFormElement) =>
  [...form.querySelectorAll<HTMLInputElement>('input, select, textarea')]
    .filter(({ type, checked, value }) => (type === 'checkbox' || type === 'radio' ? checked : value))
    .map(({ labels, ariaLabel, value }) => `${labels?.[0]?.textContent ?? ariaLabel} ${value}`)
    .sort()
    .join('\n');

/** Whether something that was filled in would be lost. The choices of a form that has only lists are soon made again. */
export const isChanged = (form: HTMLFormElement): boolean =>
  form.querySelector('input, textarea') !== null && kept.get(form) !== contentsOf(form);

/** A form whose fields (`Field`) show what the API says of them. After a refusal the first wrong field has the focus. */
export function Form({ children, onSubmit, class: className }: FormProps) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);
  const keep = () => void (element.current && kept.set(element.current, contentsOf(element.current)));
  useLayoutEffect(keep, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setIsBusy(true);
    setError(null);
    try {
      await onSubmit();
      keep();
    } catch (problem) {
      if (!isApiError(problem)) throw problem;
      setError(problem);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <FormContext.Provider value={{ error, isBusy }}>
      <form ref={element} class={`form ${className ?? ''}`} onSubmit={(event) => void submit(event)}>
        {children}
      </form>
    </FormContext.Provider>
  );
}

/** The button that sends the form around. */
export const SubmitButton = ({ kind = 'primary', ...props }: Parameters<typeof Button>[0]) => (
  <Button type="submit" kind={kind} isBusy={useContext(FormContext).isBusy} {...props} />
);

/**
 * Shows the error of the whole form: its message, or the details that no field of the form shows. `shown` are the
 * fields' paths.
 */
export function FormProblem({ shown = [] }: { shown?: string[] }) {
  const { error } = useContext(FormContext);
  if (!error) return null;
  const others = error.details.filter(({ path }) => !shown.some((name) => isWithin(path, name)));
  if (error.details.length > 0 && others.length === 0) return null;
  return (
    <p class="problem" role="alert">
      {error.details.length === 0
        ? error.message
        : others.map(({ path, message }) => `${path} ${message}`).join('; ')}
    </p>
  );
}

const isWithin = (path: string, name: string) =>
  path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);

interface FieldProps {
  label: string;
  /** The body's field: `targetAddress`. Details about it, and about what is inside it, are shown here. */
  name: string;
  hint?: ComponentChildren;
  /** Gets the attributes that tie it to its label, hint and error. */
  children: (attributes: ControlAttributes) => ComponentChildren;
}

interface ControlAttributes {
  id: string;
  name: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

/** A label, a control, a hint, and what the API finds wrong with it. */
export function Field({ label, name, hint, children }: FieldProps) {
  const id = useId();
  const message = useFieldError(name);
  const described = [hint && `${id}-hint`, message && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, name, 'aria-describedby': described, 'aria-invalid': message ? true : undefined })}
      {message && (
        <p class="field-error" id={`${id}-error`}>
          {message}
        </p>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** The error of one field; an empty text if there is none. For controls that `Field` does not fit. */
export function useFieldError(name: string): string {
  const { error } = useContext(FormContext);
  return (error?.details ?? [])
    .filter(({ path }) => isWithin(path, name))
    .map(({ path, message }) =>
      path === name
        ? message.charAt(0).toUpperCase() + message.slice(1)
        : `${path.slice(name.length).replace(/^\./, '')} ${message}`,
    )
    .join('; ')
    .replace(/[^.]$/, '$&.');
}

type InputProps = Omit<JSX.IntrinsicElements['input'], 'onInput' | 'value' | 'label'> & {
  label: string;
  name: string;
  hint?: ComponentChildren;
  value: string;
  onInput: (value: string) => void;
};

/** The usual field: one line of text. */
export function TextField({ label, name, hint, value, onInput, ...attributes }: InputProps) {
  return (
    <Field label={label} name={name} hint={hint}>
      {(control) => (
        <input
          type="text"
          {...attributes}
          {...control}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type SelectProps = Omit<JSX.IntrinsicElements['select'], 'onChange' | 'value' | 'label'> & {
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onChoose: (value: string) => void;
};

/** A list to choose from. Its children are options that stand before the others. */
export const Select = ({ options, onChoose, children, ...attributes }: SelectProps) => (
  <select {...attributes} onChange={(event) => onChoose(event.currentTarget.value)}>
    {children}
    {options.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
);

type SelectFieldProps = SelectProps & { label: string; name: string; hint?: ComponentChildren };

export const SelectField = ({ label, name, hint, ...props }: SelectFieldProps) => (
  <Field label={label} name={name} hint={hint}>
    {(control) => <Select {...props} {...control} />}
  </Field>
);

/** A moment in the reader's own time zone. Its value is in ISO 8601, or empty. */
export const MomentField = ({ value, onInput, ...props }: InputProps) => (
  <TextField
    {...props}
    type="datetime-local"
    step="1"
    value={localText(value)}
    onInput={(text) => onInput(text && new Date(text).toISOString())}
  />
);

/** The moment as `datetime-local` takes it: local, without an offset; empty for what is no moment. */
function localText(moment: string): string {
  const at = Date.parse(moment);
  if (Number.isNaN(at)) return '';
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 19);
}
