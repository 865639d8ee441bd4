/** Customers' own objects are stored as JSON text, so that a key named `__proto__` survives. */

type Texts<F extends string> = { readonly [K in F]?: string | undefined };

/** Returns the value of a JSON text; undefined for undefined. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows the type of the text
export function readJson<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/** Returns the parsed values of some JSON text fields. */
export function readJsonFields<F extends string>(record: Texts<F>, fields: readonly F[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, readJson(record[field])]));
}

/** Returns some fields of an object. */
export function pickFields<T extends object, F extends keyof T>(object: T, fields: readonly F[]): Pick<T, F> {
  return Object.fromEntries(fields.map((field) => [field, object[field]])) as Pick<T, F>;
}

/** Returns the sent fields as they are stored: `jsonFields` as JSON text, `plainFields` unchanged. Fields that were not sent are left out. */
export function toStoredFields<S extends object>(
  sent: S,
  jsonFields: readonly (keyof S)[],
  plainFields: readonly (keyof S)[] = [],
): Record<string, unknown> {
  const json = jsonFields.map((field) => [field, sent[field] === undefined ? undefined : JSON.stringify(sent[field])]);
  const plain = plainFields.map((field) => [field, sent[field]]);
  return Object.fromEntries([...json, ...plain].filter(([, value]) => value !== undefined)) as Record<string, unknown>;
}
