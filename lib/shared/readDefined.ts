export async function readDefined<K, V>(
  keys: readonly (K | undefined)[],
  read: (keys: K[]) => Promise<(V | undefined)[]>,
): Promise<(V | undefined)[]> {
  const values = (await read(keys.filter((key) => key !== undefined))).values();
  return keys.map((key) => (key === undefined ? undefined : values.next().value));
}
