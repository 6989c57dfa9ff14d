/** Whether a value is an object with fields, of which nothing is known. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
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

/** Whether a value has these fields, each a finite number (0) or a text (''). */
export function hasFields(value: unknown, fields: Readonly<Record<string, 0 | ''>>): boolean {
  return (
    isObject(value) &&
    Object.entries(fields).every(([name, like]) =>
      like === 0 ? Number.isFinite(value[name]) : typeof value[name] === 'string',
    )
  );
}
