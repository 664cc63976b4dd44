/** Buttons of which one is pressed. */
export function Choices<Name extends string>(props: {
  label: string;
  names: readonly Name[];
  chosen: Name;
  onChoose: (name: Name) => void;
}) {
  return (
    <div class="choices" role="group" aria-label={props.label}>
      {props.names.map((name) => (
        <button
          key={name}
          type="button"
          class="choice"
          aria-pressed={name === props.chosen}
          onClick={() => props.onChoose(name)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
