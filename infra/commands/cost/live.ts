import type { CallCost } from '../../cost/calls.ts';
import { lambdaDollars, MILLION, prices, tableDollars } from '../../cost/prices.ts';
import type { CostLine } from './idle.ts';

export interface LiveTraffic {
  readonly users: number;
  readonly hours: number;
  readonly usersPerDocument: number;
  readonly editsPerSecond: number;
  readonly cursorsPerSecond: number;
}

export const workday: LiveTraffic = {
  users: 1_000,
  hours: 8,
  usersPerDocument: 5,
  editsPerSecond: 1,
  cursorsPerSecond: 1,
};

const PRESENCE_SECONDS = 10;
const CHECK_SECONDS = 120;
/** The client renews the token of a connection before its 15 minutes end. */
const CONNECT_SECONDS = 14 * 60;
/** A connection, and subscriptions to the document channel, the awareness channel and the user's own channel. */
const OPERATIONS_TO_CONNECT = 4;
/**
 * For one edit that is alone in its batch of the worker. test/integration/live/publishing.test.ts asserts these values.
 */
export const editConsumption = { calls: 3, read: 2, written: 4 } as const;
const PUBLISHER_MILLISECONDS = 40;
const AUTHORIZER_MILLISECONDS = 5;

/** Returns dollars for a million changes that `publishLive` pushes one by one, each to `subscribers` clients. */
export function pushDollars(subscribers: number): number {
  const { read, written } = editConsumption;
  return (
    prices.eventOperations * (1 + subscribers) +
    tableDollars({ read: MILLION * read, written: MILLION * written }) +
    lambdaDollars(MILLION, PUBLISHER_MILLISECONDS)
  );
}

/**
 * AppSync bills each event that it receives, and each event for each subscriber that gets it. Events of up to 5 kB
 * count as one operation. `calls` are costs per million calls.
 */
export function liveBill(traffic: LiveTraffic, calls: readonly CallCost[]): CostLine[] {
  const { users, hours, usersPerDocument, editsPerSecond, cursorsPerSecond } = traffic;
  const userSeconds = users * hours * 3_600;
  const edits = userSeconds * editsPerSecond;
  const cursors = userSeconds * cursorsPerSecond;
  const priced = (item: string, count: number, dollarsOfMillion: number): CostLine => ({
    item,
    count,
    dollars: (count / MILLION) * dollarsOfMillion,
  });
  const call = (item: string, count: number, name: string): CostLine => {
    const cost = calls.find((each) => each.name === name);
    if (!cost) throw new Error(`The cost of ${name} is unknown.`);
    return priced(item, count, cost.total);
  };
  const connects = userSeconds / CONNECT_SECONDS;
  const authorizations = users * OPERATIONS_TO_CONNECT + cursors;
  return [
    priced('AppSync: edits that it receives', edits, prices.eventOperations),
    priced('AppSync: edits that it sends', edits * usersPerDocument, prices.eventOperations),
    priced('AppSync: cursors that it receives', cursors, prices.eventOperations),
    priced('AppSync: cursors that it sends', cursors * usersPerDocument, prices.eventOperations),
    priced('AppSync: connections and subscriptions', users * OPERATIONS_TO_CONNECT, prices.eventOperations),
    priced('AppSync: minutes of connections', users * hours * 60, prices.connectionMinutes),
    call('calls of crdt/updates/push', edits, '/v2/crdt/updates/push one'),
    call('calls of presence/add', userSeconds / PRESENCE_SECONDS, '/v2/presence/add one'),
    call('calls of live/changes', userSeconds / CHECK_SECONDS, '/v2/live/changes one'),
    call('calls of presence/get', userSeconds / CHECK_SECONDS, '/v2/presence/get one'),
    call('calls of livestate/get', userSeconds / CHECK_SECONDS, '/v2/livestate/get one'),
    call('calls of live/connect', connects, '/v2/live/connect one'),
    {
      item: 'table: versions and hints',
      count: edits,
      dollars: tableDollars({ read: edits * editConsumption.read, written: edits * editConsumption.written }),
    },
    { item: 'runs of publishLive', count: edits, dollars: lambdaDollars(edits, PUBLISHER_MILLISECONDS) },
    {
      item: 'runs of authorizeLive',
      count: authorizations,
      dollars: lambdaDollars(authorizations, AUTHORIZER_MILLISECONDS),
    },
  ].sort((a, b) => b.dollars - a.dollars);
}
