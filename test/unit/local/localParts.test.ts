import { beforeEach, expect, test } from '@jest/globals';
import { Parts, type PartSwitch } from '../../../infra/local/parts.ts';

/** Which switches were called, in order. */
let switchCalls: string[];
/** A promise. The next switch waits until it resolves. */
let hold: Promise<void>;
let parts: Parts;

const running = () => Object.fromEntries(parts.list().map((part) => [part.name, part.running]));

beforeEach(() => {
  switchCalls = [];
  hold = Promise.resolve();
  const part = (name: string): PartSwitch => {
    const recordSwitch = (action: string) => async () => {
      switchCalls.push(`${action} ${name}`);
      await hold;
      switchCalls.push(`done ${name}`);
    };
    return { meaning: `The ${name}.`, stop: recordSwitch('stop'), start: recordSwitch('start') };
  };
  parts = new Parts({ table: part('table'), queues: part('queues'), mail: part('mail'), live: part('live') });
});

test('a part stops and starts without the other parts, and a repeated call does nothing', async () => {
  await parts.start('table');
  await parts.stop('table');
  await parts.stop('table');
  expect([switchCalls, running()]).toEqual([
    ['stop table', 'done table'],
    { table: false, queues: true, mail: true, live: true },
  ]);
  await parts.start('table');
  await parts.start('table');
  expect([switchCalls.slice(2), running()]).toEqual([
    ['start table', 'done table'],
    { table: true, queues: true, mail: true, live: true },
  ]);
});

test('a part counts as stopped while it stops, until it has started', async () => {
  let go = Promise.withResolvers<undefined>();
  hold = go.promise;
  const stopped = parts.stop('mail');
  await Promise.resolve();
  expect(running()).toMatchObject({ mail: false });
  go.resolve(undefined);
  await stopped;
  go = Promise.withResolvers();
  hold = go.promise;
  const started = parts.start('mail');
  await Promise.resolve();
  expect(running()).toMatchObject({ mail: false });
  go.resolve(undefined);
  await started;
  expect(running()).toMatchObject({ mail: true });
});

test('concurrent changes run one after the other, and the last one decides', async () => {
  await Promise.all([parts.stop('table'), parts.start('table'), parts.stop('table')]);
  expect([switchCalls, running().table]).toEqual([
    ['stop table', 'done table', 'start table', 'done table', 'stop table', 'done table'],
    false,
  ]);
});

test('a failed change rejects and can be repeated', async () => {
  hold = Promise.reject(new Error('no'));
  await expect(parts.stop('queues')).rejects.toThrow('no');
  expect(running()).toMatchObject({ queues: false });
  hold = Promise.resolve();
  await parts.start('queues');
  expect(running()).toMatchObject({ queues: true });
});

test('a system without a push service has no part live', async () => {
  const withoutLive = new Parts({ mail: { meaning: 'The mail.', stop: () => undefined, start: () => undefined } });
  expect(withoutLive.list().map(({ name }) => name)).toEqual(['mail']);
  expect(() => withoutLive.stop('live')).toThrow('There is no part live');
});
