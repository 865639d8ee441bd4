import { definedFields } from './collections.ts';

/** Fields with any JSON of a customer are stored as text, because other forms could lose a key such as `__proto__`. */
type JsonTexts<F extends string> = { readonly [K in F]?: string | undefined };

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the type of the text
export function readJson<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

export function fromJsonFields<F extends string>(names: readonly F[], stored: JsonTexts<F>): { [K in F]?: unknown } {
  return mapFields(names, stored, (text) => readJson(text as string));
}

export function toJsonFields<F extends string>(
  names: readonly F[],
  value: { readonly [K in F]?: unknown },
): { [K in F]?: string } {
  return mapFields(names, value, JSON.stringify) as { [K in F]?: string };
}

export function pickFields<T extends object, F extends keyof T>(object: T, fields: readonly F[]): Pick<T, F> {
  return Object.fromEntries(fields.map((field) => [field, object[field]])) as Pick<T, F>;
}

/** Returns `jsonFields` as JSON text and `plainFields` unchanged, without fields that are not sent. */
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
