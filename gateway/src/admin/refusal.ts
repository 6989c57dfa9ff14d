/** An operation that cannot be done as the operator asked; the message gives the cause, in one line. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** A text chosen by an operator, checked to have 1 to 200 characters. */
export function chosen(what: string, text: string): string {
  if (text.trim() === '' || [...text].length > 200) throw new Refusal(`${what} must have 1 to 200 characters`);
  return text;
}
