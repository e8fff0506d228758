import { useId } from "preact/hooks";

/** Chooses one of a few; radio buttons that look like a switch. */
export function Segments(props: {
  label: string;
  of: readonly { readonly id: string; readonly text: string }[];
  chosen: string;
  onChoose: (id: string) => void;
}) {
  const name = useId();
  return (
    <fieldset class="segments">
      <legend>{props.label}</legend>
      <div>
        {props.of.map(({ id, text }) => (
          <label key={id}>
            <input
              type="radio"
              name={name}
              value={id}
              checked={id === props.chosen}
              onChange={() => props.onChoose(id)}
            />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
