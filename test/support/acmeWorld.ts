import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { environment } from '../../lib/app/capability.ts';
import { openTable, type Table } from '../../lib/table/table.ts';
import { type Emitted, emitted, involvements, itemsOf } from './content.ts';
import { type Customer, newCustomer } from './customer.ts';
import { type Engine, type EngineOptions, startEngine } from './engine.ts';
import { clearTable } from './items.ts';

export interface WorldOptions extends EngineOptions {
  /** Creates the customer. By default, the customer has nothing but an API key. */
  readonly newCustomer?: () => Promise<Customer>;
  /** Whether all tests of the file have the same customer. By default, each test has its own. */
  readonly isShared?: boolean;
  /** The documents of the organization `acme`. Without them, the customer has no organization. */
  readonly documents?: readonly (string | object)[];
  /** Whether each test starts with an empty table. Tests need this if they scan the items of all customers. */
  readonly isCleared?: boolean;
}

export interface AcmeWorld {
  readonly engine: Engine;
  /** The customer of the running test. */
  readonly customer: Customer;
  /** Replaces the customer by a new one. */
  useNewCustomer(): Promise<void>;
  /** Returns the customer's stored items of one type. */
  itemsOf(type: string): Promise<Record<string, any>[]>;
  /** Returns the customer's emitted events, in no particular order. */
  emitted(): Promise<Emitted[]>;
  /** Returns the involvements of one of the customer's users, as `content.ts` describes. */
  involvements(userId: string): Promise<unknown[][]>;
}

/** Starts a table engine for the tests of this file, and creates a customer. */
export function acmeWorld({
  newCustomer: create = newCustomer,
  isShared = false,
  documents,
  isCleared = false,
  ...options
}: WorldOptions = {}): AcmeWorld {
  const engine = forAllTests(() => startEngine(options));
  if (isCleared) beforeEach(() => clearTable(engine));
  let current: Customer;
  const useNewCustomer = async () => {
    current = await create();
    if (documents) await current.addDocuments(documents);
  };
  (isShared ? beforeAll : beforeEach)(useNewCustomer);
  const customer = standIn(() => current);
  return {
    engine,
    customer,
    useNewCustomer,
    itemsOf: (type) => itemsOf(engine, customer, type),
    emitted: () => emitted(engine, customer),
    involvements: (userId) => involvements(engine, customer, userId),
  };
}

let openedTable: Table | undefined;

/**
 * The table of the engine that the test file starts. It is opened at its first use, so a file can start a proxy of the
 * engine before.
 */
export const table: Table = standIn(() => (openedTable ??= openTable(environment(process.env))));

/** Returns what `customer.error` returns for invalid input. `message` is a text, or a matcher of Jest. */
export const invalid = (message: unknown) => [400, 'INVALID_ARGUMENT', message];

/** Creates an object before the tests of this file. Calls its method `stop`, if any, after them. */
export function forAllTests<T extends object>(create: () => T | Promise<T>): T {
  return createInHooks(beforeAll, afterAll, create);
}

/** Creates an object before each test of this file. Calls its method `stop`, if any, after the test. */
export function forEachTest<T extends object>(create: () => T | Promise<T>): T {
  return createInHooks(beforeEach, afterEach, create);
}

type Hook = (run: () => Promise<void>) => void;

function createInHooks<T extends object>(before: Hook, after: Hook, create: () => T | Promise<T>): T {
  let current: (T & { stop?: () => unknown }) | undefined;
  before(async () => {
    current = await create();
  });
  after(async () => {
    await current?.stop?.();
  });
  return standIn(() => current!);
}

/** Returns an object that stands for the current one. A test file holds it before the current one exists. */
function standIn<T extends object>(current: () => T): T {
  return new Proxy({} as T, {
    get(_target, key) {
      const object = current();
      const value = Reflect.get(object, key);
      // Methods must run on the object itself, because a proxy has no private fields. `bind` would hide that a method is
      // a spy.
      return typeof value === 'function'
        ? new Proxy(value, { apply: (method, _this, args) => Reflect.apply(method, object, args) })
        : value;
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
