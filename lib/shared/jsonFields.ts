/** Fields in which callers send any JSON. They are stored as JSON text, so that no key in them can collide with an attribute or be lost. */
type JsonTexts<F extends string> = { readonly [K in F]?: string | undefined };

/** Returns the named fields of a value as JSON text. Absent fields stay absent. */
export function toJsonFields<F extends string>(
  names: readonly F[],
  value: { readonly [K in F]?: unknown },
): { [K in F]?: string } {
  return mapFields(names, value, JSON.stringify) as { [K in F]?: string };
}

/** Returns the named fields of a stored value, parsed. */
export function fromJsonFields<F extends string>(names: readonly F[], stored: JsonTexts<F>): { [K in F]?: unknown } {
  return mapFields(names, stored, (text) => JSON.parse(text as string) as unknown);
}

function mapFields<F extends string>(
  names: readonly F[],
  value: { readonly [K in F]?: unknown },
  map: (field: unknown) => unknown,
): { [K in F]?: unknown } {
  const fields = names.filter((name) => value[name] !== undefined).map((name) => [name, map(value[name])] as const);
  return Object.fromEntries(fields) as { [K in F]?: unknown };
}
