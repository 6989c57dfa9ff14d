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
