import { Field } from "./parts.tsx";

/** A labelled line of text, number or time in a form. */
export function InputField(props: {
  label: string;
  hint?: string;
  name: string;
  type?: "text" | "number" | "url" | "password" | "datetime-local";
  value?: string | number | undefined;
  placeholder?: string;
  isRequired?: boolean;
  min?: number;
  max?: number;
  maxLength?: number;
}) {
  const { label, hint, name, type = "text", value = "", isRequired = false } = props;
  const { placeholder, min, max, maxLength } = props;
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(id, hintId) => (
        <input
          id={id}
          name={name}
          type={type}
          required={isRequired}
          defaultValue={value}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={hintId}
          {...{ placeholder, min, max, maxLength }}
        />
      )}
    </Field>
  );
}

/** A labelled text of several lines in a form. */
export function TextField(props: {
  label: string;
  hint: string;
  name: string;
  rows: number;
  value: string;
}) {
  return (
    <Field label={props.label} hint={props.hint}>
      {(id, hintId) => (
        <textarea
          id={id}
          name={props.name}
          rows={props.rows}
          defaultValue={props.value}
          spellcheck={false}
          aria-describedby={hintId}
        />
      )}
    </Field>
  );
}

/** A labelled choice of one of the service's networks. */
export function NetworkField(props: {
  chains: readonly { readonly chainId: number; readonly name: string }[];
  chosen?: number | undefined;
  onChoose?: (chainId: number) => void;
}) {
  const { chains, chosen, onChoose } = props;
  return (
    <Field label="Network">
      {(id) => (
        <select
          id={id}
          name="chain"
          {...(chosen !== undefined && { value: chosen })}
          onChange={(event) => onChoose?.(Number(event.currentTarget.value))}
        >
          {chains.map(({ chainId, name }) => (
            <option key={chainId} value={chainId}>
              {name.replaceAll("_", " ")} ({chainId})
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
