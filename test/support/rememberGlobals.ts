/**
 * Remembers the properties of a global object, and of the objects and classes that it holds, such as `process` and
 * `Array`. Returns a function that removes the properties added since then and restores the others.
 */
export function rememberGlobals(global: typeof globalThis): () => void {
  const held = Object.values(Object.getOwnPropertyDescriptors(global)).map(({ value }) => value);
  const objects = [global, ...held, ...held.map((value) => value?.prototype), global.process.env];
  const remembered = [...new Set(objects)]
    .filter((value) => Object(value) === value)
    .map((object) => [object, Object.getOwnPropertyDescriptors(object)] as const);
  return () => {
    for (const [object, descriptors] of remembered) restore(object, descriptors);
  };
}

function restore(object: object, descriptors: PropertyDescriptorMap): void {
  for (const key of Reflect.ownKeys(object)) {
    if (!Object.hasOwn(descriptors, key)) Reflect.deleteProperty(object, key);
  }
  for (const key of Reflect.ownKeys(descriptors)) {
    const before = descriptors[key]!;
    const now = Object.getOwnPropertyDescriptor(object, key);
    const isSame = now && (['value', 'get', 'set'] as const).every((part) => Object.is(now[part], before[part]));
    if (!isSame) Reflect.defineProperty(object, key, before);
  }
}
