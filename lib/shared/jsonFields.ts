import { definedFields } from './collections.ts';

/**
 * Fields in which the customer may send any JSON. They are stored as JSON text, because any other form could lose a key such as
 * `__proto__`.
 */
type JsonTexts<F extends string> = { readonly [K in F]?: string | undefined };

/** Returns the value of a JSON text, or undefined for undefined. */
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
 * Returns the fields of `sent` in the form in which they are stored: `jsonFields` as JSON text, `plainFields` unchanged. Leaves out
 * fields that the request does not have.
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
