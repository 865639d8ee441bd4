import { afterEach, describe, expect, test } from '@jest/globals';
import { requestCompleted, workerRunFailed } from '../../lib/observability/logMessages.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { FunctionFault } from '../support/runtimeApi.ts';
import { LambdaCustomer } from './customer.ts';
import { queueEvent, timerEvent } from './events.ts';
import { startLambdaSystem } from './system.ts';

/** The time-out that Lambda announces, in milliseconds. It ends a process that needs longer, without an answer. */
const TIMEOUT = 3_000;
const ENDPOINT = '/v2/organizations/get';

const system = forAllTests(startLambdaSystem);
const customer = forAllTests(async () => {
  const one = new LambdaCustomer(system, 'plain');
  await one.use(await one.ok('/v2/workspace/create', { ownerEmail: 'owner@example.com' }));
  return one;
});
afterEach(() => void (system.isTableHanging = false));

/** Calls an endpoint and expects the answer to a request that took too long. */
async function expectDeadline(path: string): Promise<void> {
  system.isTableHanging = true;
  const { status, body } = await customer.call(path, {}, {}, TIMEOUT);
  expect([status, body.error.status]).toEqual([504, 'DEADLINE_EXCEEDED']);
  const log = await system.logOf(system.functionOfRoute(`POST ${path}`));
  const lines = log.split('\n').filter((line) => line.includes(requestCompleted));
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ status: 504 });
}

describe('while the table hangs', () => {
  test('an endpoint answers in its envelope before the time-out, and writes its log line', async () => {
    // The second call finds the credentials in memory, so that the endpoint itself waits for the table.
    await customer.ok(ENDPOINT, {});
    await expectDeadline(ENDPOINT);
  });

  test('a new process answers in its envelope before the time-out, while it reads the credentials', () =>
    expectDeadline('/v2/users/get'));

  test('a worker of a schedule fails before the time-out, and writes its log line', async () => {
    system.isTableHanging = true;
    const fn = system.functionOfWorker('sweep');
    const run = system.invoke(fn, timerEvent('arn:aws:events:us-east-1:123456789012:rule/sweep'), TIMEOUT);
    await expect(run).rejects.toThrow(FunctionFault);
    await expect(run).rejects.toThrow('The function ran out of time');
    expect(await system.logOf(fn)).toContain(workerRunFailed);
  });

  test('a worker of a queue returns its messages before the time-out', async () => {
    system.isTableHanging = true;
    const fn = system.functionOfWorker('runJobs');
    const { queue } = system.model.queueSources.find((source) => source.function === fn)!;
    const event = queueEvent(queue.arn, [JSON.stringify({ tenant: 'key', jobId: 'job' })]);
    expect(await system.invoke(fn, event, TIMEOUT)).toEqual({
      batchItemFailures: event.Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
    });
  });
});
