import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { messageOf } from "../api.ts";

/** A window over the page. The browser keeps the focus in it, and gives it back afterwards. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  /** A secret must not be lost to a stray key or click. */
  isSticky?: boolean;
  children: ComponentChildren;
}) {
  const { title, onClose, isSticky = false } = props;
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!isSticky) onClose();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {props.children}
    </dialog>
  );
}

/** A window with a form: sends, shows what is refused, closes when it went well. */
export function FormDialog(props: {
  title: string;
  submit: string;
  isDangerous?: boolean;
  onClose: () => void;
  /** Throws what is to be shown. */
  onSubmit: (form: FormData) => Promise<void>;
  children: ComponentChildren;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    setBusy(true);
    setError(undefined);
    try {
      await props.onSubmit(new FormData(event.currentTarget));
    } catch (refusal) {
      setError(refusal);
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {props.children}
        <p class="refusal" role="alert">
          {error === undefined ? "" : messageOf(error)}
        </p>
        <div class="actions">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button ${props.isDangerous ? "danger" : "primary"}`}
            disabled={isBusy}
          >
            {props.submit}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
