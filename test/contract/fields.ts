import type { Endpoint } from '../../lib/app/endpoint.ts';
import type { JsonSchema } from '../../lib/openapi/document.ts';
import { isObject } from '../../lib/shared/collections.ts';
import { times } from '../support/times.ts';
import { dataSchema } from './contract.ts';

export type FieldPath = readonly (string | number)[];

/** A place in the requests of an endpoint, at any depth. */
export interface Field {
  readonly at: FieldPath;
  /** One of the schemas of the value, never one of alternatives. */
  readonly schema: JsonSchema;
  /** The text of the field in the reference. */
  readonly text: string;
  readonly isRequired: boolean;
  /** Whether the value can be an object, and then refuses fields that the schema does not name. */
  readonly isClosed: boolean;
  /** All types of the value. Undefined if it can be any JSON value. */
  readonly types: ReadonlySet<string> | undefined;
  /** Requests that have a value in this place: beside the values of the example, and beside as little as possible. */
  readonly requests: readonly ((value: unknown) => object)[];
  /** The same requests without the field. */
  readonly without: readonly (() => unknown)[];
}

type Wrap = (value: unknown) => object;

/** Returns the alternatives of a schema except null. */
export const optionsOf = (schema: JsonSchema): JsonSchema[] =>
  (schema.anyOf ?? schema.oneOf ?? [schema]).flatMap((option) => (option === schema ? [option] : optionsOf(option)));

export const typesOf = (schema: JsonSchema): string[] =>
  schema.type === undefined
    ? [schema.enum ?? schema.const ?? []].flat().map((value) => (value === null ? 'null' : typeof value))
    : [schema.type].flat();

/** Returns a value that a schema accepts, as small as possible. Values with different numbers have different texts. */
export function smallest(schema: JsonSchema, number = 0): unknown {
  const [option = schema] = optionsOf(schema).filter((choice) => choice.type !== 'null');
  if (option.const !== undefined) return option.const;
  if (option.enum) return option.enum.find((value) => value !== null);
  const [type] = typesOf(option);
  if (type === 'string') return textOf(option, Math.max(option.minLength ?? 0, 1), number);
  if (type === 'number' || type === 'integer')
    return Math.max(option.minimum ?? 0, 0) + (option.maximum === 1 ? 0 : number);
  if (type === 'boolean') return true;
  if (type === 'array') return times(option.minItems || 1, (index) => smallest(option.items as JsonSchema, index));
  return type === 'object' ? smallestObject(option, number) : 'x';
}

/** Returns a text of at least so many characters, in the form that the schema asks for. */
export function textOf(schema: JsonSchema, characters: number, number = 0): string {
  const { pattern, description } = schema;
  if (pattern?.startsWith('^\\d{4}'))
    return '2026-01-01T00:00:00.0Z'.replace('.0', `.${'0'.repeat(Math.max(characters - 21, 3))}`);
  const start = /https?\b/.test(description ?? '') ? 'https://example.com/' : '';
  return `${start}${number || 'x'}`.padEnd(characters, 'x');
}

export function smallestObject(schema: JsonSchema, number = 0, beside?: string): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  const names = [...required, ...neededBeside(schema, beside)];
  return Object.fromEntries(
    names.filter((name) => name in properties).map((name) => [name, smallest(properties[name] as JsonSchema, number)]),
  );
}

/** Returns the rules of an object about fields of which one must be sent, or exactly one. */
export function choicesOf({ then }: JsonSchema): { readonly names: string[]; readonly isExclusive: boolean }[] {
  const rules = ((then as JsonSchema | undefined)?.allOf ?? (then ? [then] : [])) as JsonSchema[];
  return rules.map(({ anyOf, oneOf }) => ({
    names: (anyOf ?? oneOf ?? []).flatMap(({ required = [] }) => required),
    isExclusive: oneOf !== undefined,
  }));
}

/** Returns the rules of an object about fields that exclude others. */
export function exclusionsOf({ description = '' }: JsonSchema): { field: string; message: string; others: string[] }[] {
  const texts = description.matchAll(/`(\w+)` (must not be given together with ([\w, ]+))\./g);
  return [...texts].map(([, field = '', message = '', others = '']) => ({
    field,
    message,
    others: others.split(', '),
  }));
}

/** Returns the first fields that meet the rules of the object, unless a field meets them. */
function neededBeside(schema: JsonSchema, beside: string | undefined): string[] {
  return choicesOf(schema).flatMap(({ names }) =>
    beside !== undefined && names.includes(beside) ? [] : names.slice(0, 1),
  );
}

/** Returns all places of the requests of an endpoint. */
export function fieldsOf({ path, example }: Pick<Endpoint, 'path' | 'example'>): Field[] {
  return [...fieldsIn(dataSchema(path), [], [(value) => value as object], [example.data])];
}

function* fieldsIn(
  schema: JsonSchema,
  at: FieldPath,
  wraps: readonly Wrap[],
  examples: readonly unknown[],
): Generator<Field> {
  for (const option of optionsOf(schema)) {
    if (option.type === 'null') continue;
    const { properties = {}, items, additionalProperties } = option;
    for (const [name, inner] of Object.entries(properties)) {
      const bases = [...examples.filter(isObject), smallestObject(option, 0, name)];
      yield* fieldAt(inner as JsonSchema, [...at, name], wraps, bases, (option.required ?? []).includes(name), name);
    }
    if (typeof additionalProperties === 'object')
      yield* fieldAt(additionalProperties, [...at, 'key'], wraps, [{}], false, 'key');
    if (items === undefined) continue;
    const least = option.minItems ?? 0;
    const lists = [
      ...examples.filter(Array.isArray),
      times(Math.max(least, 1), (index) => smallest(items as JsonSchema, index)),
    ];
    yield* fieldAt(items as JsonSchema, [...at, 0], wraps, lists, true, 0);
  }
}

function* fieldAt(
  schema: JsonSchema,
  at: FieldPath,
  wraps: readonly Wrap[],
  bases: readonly object[],
  isRequired: boolean,
  key: string | number,
): Generator<Field> {
  // Of all pairs, because their number doubles with each level: the example alone, the smallest alone, and both.
  const [first, last] = [wraps[0]!, wraps.at(-1)!];
  const pairs = bases.flatMap((base) => [...new Set([first, last])].map((wrap) => [base, wrap] as const)).slice(-3);
  const requests = pairs.map(
    ([base, wrap]): Wrap =>
      (value) =>
        wrap(Array.isArray(base) ? [value, ...base.slice(1)] : { ...base, [key]: value }),
  );
  const without = pairs.map(
    ([base, wrap]) =>
      () =>
        wrap(omit(base, key)),
  );
  const options = optionsOf(schema);
  const types = options.some((option) => typesOf(option).length === 0) ? undefined : new Set(options.flatMap(typesOf));
  const objects = options.filter((option) => typesOf(option).includes('object'));
  const isClosed = objects.length > 0 && objects.every((option) => option.additionalProperties === false);
  for (const option of options)
    if (option.type !== 'null')
      yield {
        at,
        schema: option,
        text: schema.description ?? option.description ?? '',
        isRequired,
        isClosed,
        types,
        requests,
        without,
      };
  yield* fieldsIn(
    schema,
    at,
    requests,
    bases.map((base) => (base as Record<string | number, unknown>)[key]),
  );
}

const omit = (base: object, key: string | number): object =>
  Array.isArray(base) ? base.slice(1) : Object.fromEntries(Object.entries(base).filter(([name]) => name !== key));

/** Returns an object that has so many levels of objects below it. */
export function nested(levels: number): object {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

/** Returns the path of a field, such as `users.*.name`. `item` stands for the items of a list. */
export const pathOf = (at: FieldPath, item: string): string =>
  at.map((part) => (typeof part === 'number' ? item : part)).join('.');

/** Returns the example of an endpoint as a user of the document `nda` can send it. */
export function exampleOfUser({ example, user }: Endpoint): Record<string, unknown> {
  const { refuses = [], on = '' } = user ?? {};
  const data = Object.fromEntries(Object.entries(example.data as object).filter(([field]) => !refuses.includes(field)));
  const needsDocument = ['document', 'documents'].includes(on) && !('documentIds' in data);
  return { ...data, organizationId: 'acme', ...(needsDocument && { documentId: 'nda' }) };
}
