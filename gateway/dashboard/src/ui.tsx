import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Loaded } from './api.js';
import { ago, clock, date } from './format.js';
import type { Paged } from './pages.js';
import { hasMoved, Link } from './router.js';

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
  readonly unit?: string;
  readonly aside?: ComponentChildren;
  /** A text beside the title. */
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="panel">
      {props.title !== undefined && (
        <div class="panel-head">
          <h2>
            {props.title}
            {props.unit && <span class="mute"> {props.unit}</span>}
          </h2>
          {props.aside}
          {props.note && <span class="mute">{props.note}</span>}
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
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Shown for an empty list; says what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      <p>{children}</p>
    </div>
  );
}

/** A placeholder while data load. */
export function Skeleton({ rows = 4 }: { readonly rows?: number | undefined }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  );
}

/** A placeholder while data load, or the message that they could not be loaded (again). */
export function Loading({ of: { data, at, error, reload }, rows }: LoadingProps) {
  if (error) return <Failure error={error} retry={() => void reload()} shownAt={at} />;
  return data === undefined ? <Skeleton rows={rows} /> : null;
}

interface LoadingProps {
  readonly of: Loaded<unknown>;
  /** Height of the placeholder. */
  readonly rows?: number | undefined;
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

/** A column of a table: its name, and its cell for a row. */
interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** How it looks; the name of a column of `row-actions` is only for screen readers. */
  readonly kind?: 'number' | 'why' | 'user' | 'row-actions';
}

/** A table without its rows. */
export interface TableForm<Row> {
  readonly label: string;
  /** The identity of a row. */
  readonly id: (row: Row, index: number) => string | number;
  /** The first one names the rows. */
  readonly columns: readonly Column<Row>[];
}

/** A table. On a narrow screen each row is a block, in which the names of the columns stand beside the values (styles.css). */
export function Table<Row>(props: TableForm<Row> & { readonly rows: readonly Row[] }) {
  const [first, ...others] = props.columns;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard (axe: scrollable-region-focusable)
    <section class="table" aria-label={props.label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {props.columns.map(({ name, kind }) => (
              <th key={name} scope="col" class={kind}>
                {kind === 'row-actions' ? <span class="unseen">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row, i) => (
            <tr key={props.id(row, i)}>
              <th scope="row">
                <div>{first?.cell(row)}</div>
              </th>
              {others.map(({ name, kind, cell }) => (
                <td key={name} class={kind} data-label={kind === 'row-actions' ? '' : name}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A link to the page of a device. */
export function DeviceLink({ account, id }: { readonly account: string; readonly id: string }) {
  return <Link to={`/a/${account}/devices/${encodeURIComponent(id)}`}>{id}</Link>;
}

/** Shown for a missing value. */
export const NONE = <span class="mute">–</span>;

/** A button that does not send a form. */
export function Button(props: Omit<ComponentProps<'button'>, 'type'>) {
  return <button type="button" {...props} />;
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
    <Button class="small" onClick={copy} aria-label={`${label}: copy`}>
      <span aria-live="polite">{done ? 'Copied' : 'Copy'}</span>
    </Button>
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

interface Labelled {
  readonly label: string;
  readonly hint?: string | undefined;
}

/** A control with its label, and a hint below it. */
export function Field({
  label,
  hint,
  children,
}: Labelled & { readonly children: (as: { id: string; 'aria-describedby'?: string }) => ComponentChildren }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...(hint !== undefined && { 'aria-describedby': `${id}-hint` }) })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A line of text; `set` is called at each key. Other properties are those of an input. */
export function TextField({
  label,
  hint,
  set,
  ...input
}: Labelled & ComponentProps<'input'> & { readonly value: string; readonly set: (value: string) => void }) {
  return (
    <Field label={label} hint={hint}>
      {(as) => <input {...as} {...input} onInput={(event) => set(event.currentTarget.value)} />}
    </Field>
  );
}

type SelectProps = ComponentProps<'select'> & {
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly value: string;
  readonly set: (value: string) => void;
};

/** A few values to choose from, each with its text. Other properties are those of a select. */
export function Select({ options, set, ...select }: SelectProps) {
  return (
    <select {...select} onChange={(event) => set(event.currentTarget.value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** The same with a label. */
export function Choice({ label, ...select }: SelectProps & { readonly label: string }) {
  return <Field label={label}>{(as) => <Select {...as} {...select} />}</Field>;
}

/** A dialog that is open while it is rendered. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => unknown;
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
    <dialog ref={dialog} aria-labelledby={id} onClose={() => void props.onClose()}>
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
  readonly onCancel?: () => unknown;
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
          <Button autofocus={props.danger} onClick={() => void props.onCancel?.()}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}

/** A form in a dialog, which closes after its action or without it. */
export function FormDialog({
  title,
  onClose,
  ...form
}: Omit<ComponentProps<typeof Form>, 'onCancel'> & { readonly title: string; readonly onClose: () => unknown }) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} onCancel={onClose} />
    </Dialog>
  );
}

interface RowsProps<Row> extends TableForm<Row> {
  readonly list: Paged<Row>;
  readonly empty: ComponentChildren;
  /** The text of the button. */
  readonly more: string;
}

/** The table of a list, or `empty` if it has no rows, and a button that loads the next page. */
export function Rows<Row>({ list, empty, more, ...form }: RowsProps<Row>) {
  const { rows, next } = list;
  return (
    <>
      <Loading of={{ ...list, data: rows }} />
      {rows && (rows.length === 0 ? empty : <Table {...form} rows={rows} />)}
      {next !== null && (
        <div class="more">
          <Button onClick={list.more}>{more}</Button>
        </div>
      )}
    </>
  );
}
