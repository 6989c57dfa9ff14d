/** The parts of an AsyncAPI 3 document that the page shows. */
export interface AsyncApi {
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly components: unknown;
}

export interface Channel {
  readonly address: string;
  readonly title: string;
  readonly description?: string;
  readonly bindings: { readonly ws: { readonly query: Schema } };
}

export interface Operation {
  readonly action: 'send' | 'receive';
  readonly channel: Reference;
  readonly summary: string;
  readonly messages: readonly Reference[];
}

export interface Reference {
  readonly $ref: string;
}

export interface Message {
  readonly title: string;
  readonly description?: string;
  readonly contentType?: string;
  readonly payload: Schema;
}

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema | Reference>>;
  readonly items?: Schema | Reference;
  readonly additionalProperties?: Schema | Reference;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
}

/** Follows a reference within the document, also through further references. */
export function resolved<T>(document: AsyncApi, part: T | Reference): T {
  if (typeof part !== 'object' || part === null || !('$ref' in part)) return part as T;
  const path = part.$ref.replace(/^#\//, '').split('/');
  const found = path.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document);
  return resolved(document, found as T | Reference);
}

/** A type in a few words: `number or null`, `list of number`. */
export function typeOf(document: AsyncApi, schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ');
  if (schema.items) return `list of ${typeOf(document, resolved<Schema>(document, schema.items))}`;
  if (schema.additionalProperties)
    return `object of ${typeOf(document, resolved<Schema>(document, schema.additionalProperties))}`;
  const names = schema.type === undefined ? ['anything'] : [schema.type].flat();
  return `${names.join(' or ')}${schema.format ? ` (${schema.format})` : ''}`;
}
