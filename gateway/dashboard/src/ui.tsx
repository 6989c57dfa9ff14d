import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ago, clock, date } from './format.js';
import type { Paged } from './pages.js';
import { hasMoved } from './router.js';

/** A page: heading, actions and content. */
export function Page(props: {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${props.title} · Device Insights`;
    if (hasMoved()) heading.current?.focus({ preventScroll: true });
  }, [props.title]);
  return (
    <>
      <header class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {props.title}
          </h1>
          {props.lead && <p class="lead">{props.lead}</p>}
        </div>
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </>
  );
}

export function Panel(props: {
  readonly title?: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="panel">
      {props.title !== undefined && (
        <div class="panel-head">
          <h2>{props.title}</h2>
          {props.aside}
        </div>
      )}
      {props.children}
    </section>
  );
}

/** A fact of a list `facts`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/**
 * An error message, with a button to try again. With `shownAt`, the page still shows data that were received then: it
 * says so, and none of their badges is green.
 */
export function Failure(props: {
  readonly error: Error;
  readonly retry?: () => void;
  readonly shownAt?: number | undefined;
}) {
  const { error, retry, shownAt } = props;
  return (
    <div class={shownAt === undefined ? 'note bad' : 'note bad old'} role="alert">
      <p>
        {sentence(error.message)}
        {shownAt !== undefined && ` Below is the state of ${clock(shownAt)}.`}
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Stands in place of an empty list, and says what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}

/** A placeholder while data load. */
export function Skeleton({ rows = 4 }: { readonly rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  );
}

export function Badge({
  tone,
  children,
}: {
  readonly tone: 'good' | 'warn' | 'bad' | 'mute';
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** Called every second, all in one task: a list of a thousand devices is laid out once, not with each of its times. */
const ticks = new Set<() => void>();
setInterval(() => {
  for (const tick of ticks) tick();
}, 1000);

/** A moment, as its distance from now, which is kept up to date. */
export function When({ at, none = '–' }: { readonly at: string | number | null; readonly none?: string }) {
  const text = at === null ? none : ago(at);
  const [, setText] = useState(text);
  useEffect(() => {
    if (at === null) return;
    const tick = () => setText(ago(at));
    ticks.add(tick);
    return () => void ticks.delete(tick);
  }, [at]);
  if (at === null) return <span class="mute">{none}</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={date(at)}>
      {text}
    </time>
  );
}

/** A table. On a narrow screen each row is a block. */
export function Table(props: {
  readonly label: string;
  readonly columns: readonly (
    | string
    | { readonly name: string; readonly number?: boolean; readonly hidden?: boolean }
  )[];
  readonly children: ComponentChildren;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const names = props.columns.map((column) => (typeof column === 'string' ? column : column.hidden ? '' : column.name));
  // On a narrow screen the names of the columns stand beside the values (styles.css).
  useEffect(() => {
    for (const row of body.current?.rows ?? [])
      for (const [i, cell] of [...row.cells].entries()) cell.dataset.label = names[i] ?? '';
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard (axe: scrollable-region-focusable)
    <section class="table" aria-label={props.label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {props.columns.map((column) => {
              const { name, number = false, hidden = false } = typeof column === 'string' ? { name: column } : column;
              return (
                <th key={name} scope="col" class={number ? 'number' : ''}>
                  {hidden ? <span class="unseen">{name}</span> : name}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody ref={body}>{props.children}</tbody>
      </table>
    </section>
  );
}

/** A button that copies a text. */
function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () => copied(text).then(setDone);
  return (
    <button type="button" class="small" onClick={copy} aria-label={`${label}: copy`}>
      <span aria-live="polite">{done ? 'Copied' : 'Copy'}</span>
    </button>
  );
}

/** Copies a text. Without TLS, pages have no clipboard interface, but browsers still copy selected text. */
async function copied(text: string): Promise<boolean> {
  if (navigator.clipboard)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const area = document.createElement('textarea');
  area.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

/** Code that is meant to be copied. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <Copy text={text} label={label} />
    </div>
  );
}

export function Field(props: {
  readonly label: string;
  readonly hint?: string;
  readonly children: (id: string, hintId: string | undefined) => ComponentChildren;
}) {
  const id = useId();
  const hintId = props.hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children(id, hintId)}
      {props.hint && (
        <p class="hint" id={hintId}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

/** A dialog that is open while it is rendered. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => opener instanceof HTMLElement && opener.focus();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={props.onClose}>
      <h2 id={id}>{props.title}</h2>
      {props.children}
    </dialog>
  );
}

/** Time without an answer after which a form says that it waits, ms. */
const WAITING_MS = 3000;

/** A form that shows that its action takes long, and its error. In a dialog, Enter does not carry out a dangerous one: Cancel has the focus. */
export function Form(props: {
  readonly submit: string;
  readonly danger?: boolean;
  readonly onSubmit: () => Promise<unknown>;
  readonly onCancel?: () => void;
  readonly children?: ComponentChildren;
}) {
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const [waiting, setWaiting] = useState(false);
  useEffect(() => {
    if (!busy) return;
    const timer = setTimeout(() => setWaiting(true), WAITING_MS);
    return () => {
      clearTimeout(timer);
      setWaiting(false);
    };
  }, [busy]);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    await props.onSubmit().catch((caught: Error) => setError(caught));
    setBusy(false);
  };
  return (
    <form onSubmit={submit}>
      {props.children}
      {error && <Failure error={error} />}
      {waiting && (
        <p role="status" class="mute">
          The service has not answered yet. Waiting for up to a minute.
        </p>
      )}
      <div class="actions">
        <button type="submit" class={props.danger ? 'danger' : 'primary'} disabled={busy}>
          {props.submit}
        </button>
        {props.onCancel && (
          <button type="button" autofocus={props.danger} onClick={props.onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

/** The rows of a list, or what stands for them while there are none, and a button that loads the next page. */
export function Rows<Row>(props: {
  readonly list: Paged<Row>;
  readonly empty: ComponentChildren;
  /** The text of the button. */
  readonly more: string;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}) {
  const { rows, next, at, error, more, reload } = props.list;
  return (
    <>
      {error && <Failure error={error} retry={() => void reload()} shownAt={at} />}
      {!rows && !error && <Skeleton />}
      {rows && (rows.length === 0 ? props.empty : props.children(rows))}
      {next !== null && (
        <div class="more">
          <button type="button" onClick={more}>
            {props.more}
          </button>
        </div>
      )}
    </>
  );
}
