import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { type Emitted, emitted, itemsOf } from './content.ts';
import { type Customer, newCustomer } from './customer.ts';
import { type Engine, type EngineOptions, startEngine } from './engine.ts';
import { involvements } from './involvements.ts';
import { clearTable } from './items.ts';
import { standIn } from './standIn.ts';

export { table } from './standIn.ts';

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
  /** Returns the involvements of one of the customer's users, as `involvements.ts` describes. */
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
