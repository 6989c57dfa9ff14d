/** What a JSON value must be: nothing (undefined), a text (`''`), a number (`0`), an object whose fields have forms, or what a function says. */
export type Form = undefined | '' | 0 | ((value: unknown) => boolean) | { readonly [field: string]: Form };

/** Whether a value has a form. Fields without a form may be anything. */
export function hasForm(value: unknown, form: Form): boolean {
  if (typeof form === 'function') return form(value);
  if (typeof form !== 'object') return typeof value === typeof form;
  return isObject(value) && Object.entries(form).every(([name, part]) => hasForm(value[name], part));
}

/** The form of an array whose items all have a form. */
export function listOf(form: Form): Form {
  return (value) => Array.isArray(value) && value.every((item) => hasForm(item, form));
}

/** Whether a value is an object with fields, of which nothing is known. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a JSON object; none if the text is something else. */
export function fieldsOf(text: unknown): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text as string);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
