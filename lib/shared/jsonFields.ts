import { definedFields } from './collections.ts';

/**
 * Fields with any JSON of the customer, in their stored form: as JSON text. In any other form, a key such as `__proto__` could be
 * lost.
 */
type JsonTexts<F extends string> = { readonly [K in F]?: string | undefined };

/** Returns the value of a JSON text, or undefined if there is no text. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows the type of the text
export function readJson<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/** Returns the parsed values of the named fields. Missing fields stay missing. */
export function fromJsonFields<F extends string>(names: readonly F[], stored: JsonTexts<F>): { [K in F]?: unknown } {
  return mapFields(names, stored, (text) => readJson(text as string));
}

/** Returns the named fields of a value as JSON texts. Missing fields stay missing. */
export function toJsonFields<F extends string>(
  names: readonly F[],
  value: { readonly [K in F]?: unknown },
): { [K in F]?: string } {
  return mapFields(names, value, JSON.stringify) as { [K in F]?: string };
}

/** Returns an object with only the named fields. */
export function pickFields<T extends object, F extends keyof T>(object: T, fields: readonly F[]): Pick<T, F> {
  return Object.fromEntries(fields.map((field) => [field, object[field]])) as Pick<T, F>;
}

/**
 * Returns sent fields in their stored form: `jsonFields` as JSON text, `plainFields` unchanged. Leaves out fields that were not
 * sent.
 */
export function toStoredFields<S extends object>(
  sent: S,
  jsonFields: readonly (keyof S & string)[],
  plainFields: readonly (keyof S)[] = [],
): Record<string, unknown> {
  return { ...toJsonFields(jsonFields, sent), ...definedFields(pickFields(sent, plainFields)) };
}

function mapFields<F extends string>(
  names: readonly F[],
  value: { readonly [K in F]?: unknown },
  map: (field: unknown) => unknown,
): { [K in F]?: unknown } {
  const fields = names.filter((name) => value[name] !== undefined).map((name) => [name, map(value[name])] as const);
  return Object.fromEntries(fields) as { [K in F]?: unknown };
}
