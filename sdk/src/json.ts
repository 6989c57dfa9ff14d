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

/** Whether a value has fields of these types, by name; the numbers are finite. */
export function hasFields(value: unknown, types: Readonly<Record<string, 'number' | 'string'>>): boolean {
  if (!isObject(value)) return false;
  return Object.entries(types).every(([name, type]) => {
    const field = value[name];
    return type === 'number' ? Number.isFinite(field) : typeof field === type;
  });
}
