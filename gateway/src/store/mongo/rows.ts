/** Turns a row into its document: the id becomes `_id`. */
export function documentOf<Row extends { readonly id: string }>({
  id,
  ...rest
}: Row): Omit<Row, 'id'> & { _id: string } {
  return { _id: id, ...rest };
}

/** Turns a document back into its row. */
export function rowOf<Document extends { readonly _id: string }>({
  _id: id,
  ...rest
}: Document): Omit<Document, '_id'> & { id: string } {
  return { id, ...rest };
}

/** An order of documents: the direction of each field. */
export type Order = Readonly<Record<string, 1 | -1>>;

/** The filter of what comes after a position in an order; its first condition lets an index begin there. */
export function after(order: Order, position: readonly unknown[]) {
  const fields = Object.entries(order).map(([name, sign], i) => ({
    name,
    beyond: sign > 0 ? '$gt' : '$lt',
    at: position[i],
  }));
  const later = fields.map(({ name, beyond, at }, i) => {
    const same = fields.slice(0, i).map((field) => [field.name, field.at]);
    return { ...Object.fromEntries(same), [name]: { [beyond]: at } };
  });
  const begin = fields.slice(0, 1).map(({ name, beyond, at }) => [name, { [`${beyond}e`]: at }]);
  return { ...Object.fromEntries(begin), $or: later };
}
