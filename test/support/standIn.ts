import { environment } from '../../lib/app/capability.ts';
import { openTable, type Table } from '../../lib/table/table.ts';

let openedTable: Table | undefined;

/**
 * The table of the engine that the test file starts. It is opened at its first use, so a file can start a proxy of the
 * engine before.
 */
export const table: Table = standIn(() => (openedTable ??= openTable(environment(process.env))));

/** Returns an object that stands for the current one. A test file holds it before the current one exists. */
export function standIn<T extends object>(current: () => T): T {
  return new Proxy({} as T, {
    get(_target, key) {
      const object = current();
      const value = Reflect.get(object, key);
      // Methods of a class read private fields, which a proxy lacks. A spy is a property of the object itself.
      return typeof value === 'function' && !Object.hasOwn(object, key) ? value.bind(object) : value;
    },
    set: (_target, key, value) => Reflect.set(current(), key, value),
    deleteProperty: (_target, key) => Reflect.deleteProperty(current(), key),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_target, key) => ({
      ...Reflect.getOwnPropertyDescriptor(current(), key),
      configurable: true,
    }),
  });
}
