import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { run } from '../../../infra/commands/deliveries.ts';
import { setAdvancedWebhooks } from '../../../infra/commands/workspace.ts';
import { environment } from '../../../lib/app/capability.ts';
import { upsert } from '../../../lib/table/table.ts';
import { DeliveryEntity } from '../../../lib/webhooks/deliveries.ts';
import { EndpointDisabler } from '../../../lib/webhooks/disableEndpoints.ts';
import { EndpointHealthStore } from '../../../lib/webhooks/endpointHealth.ts';
import { WebhookEndpointEntity } from '../../../lib/webhooks/endpoints.ts';
import { FirstAttemptsEntity } from '../../../lib/webhooks/firstAttempts.ts';
import { newDelivery } from '../../../lib/webhooks/rules/delivery.ts';
import { queueVariable } from '../../../lib/workers/queues.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { HOUR, MINUTE, SECOND } from '../../support/deliveries.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { startQueues } from '../../support/queues.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import { times } from '../../support/times.ts';
import { paths } from '../../support/webhooks.ts';
import { webhookWorld } from '../../support/webhookWorld.ts';

const { customer, hooks, system, createEndpoint, useBasicWebhooks } = webhookWorld();
const queues = forAllTests(startQueues);
const dataDir = temporaryFolder();
let tenant: string;
let endpointId: string;

/** The URL of each queue and dead-letter queue, by logical id. */
const urls = new Map<string, string>();
const operate = (...args: string[]) => run(args, process.env);
const show = () => operate('endpoint', tenant, endpointId);

/** Returns the values in the first block of a printed page, by the names of their rows. */
function rowsOf(printed: string): Record<string, string> {
  const [rows] = printed.split('\n\n');
  return Object.fromEntries(rows!.split('\n').map((row) => row.split(/ {2,}/) as [string, string]));
}

beforeAll(() => {
  for (const [name, variable] of Object.entries(queueVariable)) {
    for (const kind of ['DeadLetters', 'Queue']) {
      const id = `${name[0]!.toUpperCase()}${name.slice(1)}${kind}`;
      urls.set(id, (process.env[variable] = queues.server.createQueue(id).queueUrl));
    }
  }
});
beforeEach(async () => {
  queues.clear();
  tenant = customer.apiKey;
  endpointId = await createEndpoint('/a?token=secret', { rateLimit: 7 });
});

const bodies = (id: string) => (queues.server.inspectQueue(id)?.messages.ready ?? []).map(({ body }) => body);
const send = (id: string, ...texts: string[]) => texts.forEach((body) => queues.server.sendMessage(id, body));

describe('npm run deliveries', () => {
  test('status prints due and overdue deliveries, and the queues', async () => {
    for (const late of [10 * SECOND, 2 * HOUR]) {
      const dueAt = Date.now() - late;
      const delivery = newDelivery(
        { eventId: await system.emit(), endpointId, event: 'comment.add', createdAt: dueAt, shard: 3 },
        dueAt,
        system.timing,
      );
      await system.table.write([upsert(DeliveryEntity, { ...delivery, tenant, dueAt })]);
    }
    const first = { eventId: 'msg_1', group: 'a', endpointIds: ['ep_1', 'ep_2'], sweeps: 0, shard: 4 };
    await system.table.write([
      upsert(FirstAttemptsEntity, { ...first, tenant, dueAt: Date.now() - SECOND, createdAt: Date.now() - HOUR }),
    ]);
    send('DeliverQueue', '{}');
    send('MailDeadLetters', '{}', '{}');
    const printed = await operate('status');
    expect(printed).toMatch(/^Deliveries due +4$/m);
    expect(printed).toMatch(/^Overdue by 5 minutes +3, the oldest by 120 minutes$/m);
    expect(printed).toMatch(/^Queue +waiting +in flight +delayed +dead letters$/m);
    expect(printed).toMatch(/^deliver +1 +0 +0 +0$/m);
    expect(printed).toMatch(/^mail +0 +0 +0 +2$/m);
  });

  test('endpoint and message print deliveries and attempts without customer data', async () => {
    hooks.answer('/a?token=secret', { status: 500, body: 'private' });
    const eventId = await system.publish();
    await system.processNextMessage();
    const endpointPage = await operate('endpoint', tenant, endpointId);
    expect(endpointPage).toMatch(/^State +enabled$/m);
    expect(endpointPage).toMatch(/^Rate limit +7 per second$/m);
    expect(endpointPage).toMatch(new RegExp(`^Failing +since ${new Date(system.now).toISOString().slice(0, 10)}`, 'm'));
    expect(endpointPage).toMatch(new RegExp(`Z ${eventId} +comment\\.add +PENDING +1 +20\\S+ +failed 500$`, 'm'));
    const messagePage = await operate('message', tenant, eventId);
    expect(messagePage).toMatch(/^Event +comment\.add$/m);
    expect(messagePage).toMatch(new RegExp(`${endpointId} +1 +failed +500 +\\d+`));
    expect(`${endpointPage}${messagePage}`).not.toMatch(/secret|private/);
  });

  test('endpoint ignores health that was stored before the last change of the endpoint', () =>
    withStillClock(async () => {
      hooks.answer('/a?token=secret', { status: 500 });
      await system.publishMany(10);
      await system.processMessages(10);
      expect(rowsOf(await show())).toMatchObject({
        'Deliveries paused': expect.stringMatching(/^until 20/),
        Failing: expect.stringMatching(/^since 20/),
        'Last delivered': 'none of the last 10 messages',
      });
      const afterPause = await run(['endpoint', tenant, endpointId], process.env, system.now + MINUTE);
      expect(rowsOf(afterPause)['Deliveries paused']).toBe('no: the next attempt decides');
      const pausing = async () =>
        Number(rowsOf(await run(['status'], process.env, system.now))['Endpoints with an open circuit breaker']);
      const before = await pausing();
      await customer.ok(paths.update, { endpointId, url: hooks.url('/b') });
      // The endpoint has a new URL, so its old failures do not count.
      expect(await pausing()).toBe(before - 1);
      await system.publish();
      await system.processNextMessage();
      expect(hooks.at('/b')).toHaveLength(1);
      const rows = rowsOf(await show());
      expect(rows).toMatchObject({ 'Deliveries paused': 'no', Failing: 'no' });
      expect(rows['Last delivered']!.slice(0, 10)).toBe(new Date(system.now).toISOString().slice(0, 10));
      // The next attempt replaces the old health, which belongs to the old URL.
      const { _r: about } = (await system.table.get(WebhookEndpointEntity, { tenant, endpointId }))!;
      expect(await new EndpointHealthStore(system.table).get({ tenant, endpointId })).toMatchObject({
        about,
        breaker: { inARow: 0 },
      });
    }));

  test('endpoint reports no failure after a success, even if the success was not sampled', async () => {
    const key = { tenant, endpointId };
    const health = new EndpointHealthStore(system.table);
    const storeFailing = async (since: number) => {
      const { _r: about } = (await system.table.get(WebhookEndpointEntity, key))!;
      const breaker = { inARow: 1, window: { since, attempts: 5_000, failures: 1 } };
      const failing = { since, last: since, days: 1, warned: 0 };
      await health.write(key, { about, breaker, failing, writtenAt: since }, await health.get(key));
    };
    await storeFailing(system.now - MINUTE);
    expect(rowsOf(await show()).Failing).toBe(`since ${new Date(system.now - MINUTE).toISOString()}`);
    system.random = () => 0.999;
    await system.publish();
    await system.processNextMessage();
    expect(await health.get(key)).toMatchObject({ failing: { since: system.now - MINUTE } });
    expect(rowsOf(await show()).Failing).toBe('no');
    await storeFailing(system.now + MINUTE);
    expect(rowsOf(await show()).Failing).toBe(`since ${new Date(system.now + MINUTE).toISOString()}`);
  });

  test('endpoint prints filter types and channels, also for a uid', async () => {
    const { id } = await customer.ok(paths.create, {
      url: hooks.url('/c'),
      uid: 'crm',
      filterTypes: ['comment.add', 'comment.update'],
      channels: ['sales'],
    });
    const printed = await operate('endpoint', tenant, 'crm');
    expect(rowsOf(printed)).toMatchObject({
      Endpoint: id,
      Uid: 'crm',
      State: 'enabled',
      'Advanced webhooks': 'on',
      Events: 'comment.add, comment.update',
      Channels: 'events with one of sales',
      'Rate limit': 'none',
    });
    expect(await operate('endpoint', tenant, id)).toBe(printed);
    expect(rowsOf(await show())).toMatchObject({ Events: 'every type', Channels: 'events with any channel or none' });
    await customer.ok(paths.update, { endpointId: id, disabled: true });
    await expect(operate('recover', tenant, 'crm', new Date().toISOString())).rejects.toThrow(
      /^The endpoint is disabled/,
    );
  });

  test('endpoint treats its argument as an id before it looks for a uid', async () => {
    for (const uid of [endpointId, 'ep_basic_raw']) await customer.ok(paths.create, { url: hooks.url('/c'), uid });
    for (const id of [endpointId, 'ep_basic_raw'])
      expect(rowsOf(await operate('endpoint', tenant, id)).Endpoint).toBe(id);
    await expect(operate('endpoint', tenant, 'ep')).rejects.toThrow(
      /^API key .* has no endpoint ep, and sent no message/,
    );
  });

  test('endpoint prints when and by whom an endpoint was disabled', async () => {
    const before = Date.now();
    await customer.ok(paths.update, { endpointId, disabled: true });
    const disabled = rowsOf(await show());
    const [, since] = /^disabled since (.*), by the customer$/.exec(disabled.State!)!;
    expect(Date.parse(since!)).toBeGreaterThanOrEqual(before);
    expect(Object.keys(disabled)).not.toContain('Failing');
    await customer.ok(paths.update, { endpointId, description: 'Still off', disabled: true });
    expect(rowsOf(await show()).State).toBe(disabled.State);
    await customer.ok(paths.update, { endpointId, disabled: false });
    expect(rowsOf(await show()).State).toBe('enabled');
    const key = { tenant, endpointId };
    const stored = (await system.table.get(WebhookEndpointEntity, key))!;
    expect(stored).not.toHaveProperty('disabling');
    await new EndpointDisabler(system.table).disable(key, stored._r, system.now - 120 * HOUR, system.now);
    expect(rowsOf(await show()).State).toBe(
      `disabled since ${new Date(system.now).toISOString()}, by the service, because every attempt failed for 5 days`,
    );
    const { id } = await customer.ok(paths.create, { url: hooks.url('/c'), disabled: true });
    expect(rowsOf(await operate('endpoint', tenant, id)).State).toMatch(/^disabled since .*, by the customer$/);
  });

  test('endpoint prints the deliveries of a deleted endpoint', async () => {
    await system.publish();
    await customer.ok(paths.delete, { endpointId });
    await system.drain();
    const printed = await show();
    expect(rowsOf(printed)).toMatchObject({ Endpoint: endpointId, State: 'deleted' });
    expect(printed).toMatch(/comment\.add +CANCELLED/);
  });

  test('endpoint prints whether advanced webhooks are enabled', async () => {
    const state = async () => rowsOf(await show())['Advanced webhooks'];
    await customer.ok(paths.updateConfig, { isEnabled: false });
    expect(await state()).toBe('off: disabled by the customer');
    await setAdvancedWebhooks({ apiKey: tenant, offered: false, env: environment(process.env) });
    expect(await state()).toBe('off: made unavailable by the operator');
  });

  test('endpoint prints a basic target and its triggers', async () => {
    const rows = async (id: string) => rowsOf(await operate('endpoint', tenant, id));
    expect(await rows('ep_basic_raw')).toMatchObject({
      Kind: 'rawNotificationUrl of basic webhooks',
      'Basic webhooks': 'off: never enabled by the customer',
      URL: 'none',
      Events: 'none: no trigger is on',
    });
    await useBasicWebhooks({ rawNotificationUrl: hooks.url('/raw?token=secret'), triggers: { 'comment.add': true } });
    hooks.answer('/raw?token=secret', { status: 503 });
    await system.publish();
    await system.drain();
    const raw = await rows('ep_basic_raw');
    expect(raw).toMatchObject({
      'Basic webhooks': 'on',
      URL: hooks.url(''),
      Failing: expect.stringMatching(/^since /),
    });
    expect(raw.Events!.split(', ')).toContain('comment.add');
    expect(await rows('ep_basic_processed')).toMatchObject({
      Kind: 'processedNotificationUrl of basic webhooks',
      'Basic webhooks': 'on',
      URL: 'none',
    });
    await customer.ok(paths.updateBasic, { useWebhookService: false });
    expect(await rows('ep_basic_raw')).toMatchObject({ 'Basic webhooks': 'off: disabled by the customer' });
    expect(JSON.stringify(raw)).not.toContain('secret');
  });

  test('recover sends failed messages again', async () => {
    system.timing = { schedule: [0], marginMs: 5 * MINUTE };
    hooks.answer('/a?token=secret', { status: 500 });
    await system.publish();
    await system.drain();
    const since = new Date(Date.now() - HOUR).toISOString();
    const pending =
      'Pending messages are still being tried: "npm run deliveries -- endpoint" shows the time of the next attempt.';
    expect(await operate('recover', tenant, endpointId, since)).toBe(
      `Sending 1 messages again, at up to 50 per second. ${pending}`,
    );
    expect(bodies('JobsQueue')).toHaveLength(1);
    const none = `No message to this endpoint has failed since then. ${pending}`;
    expect(await operate('recover', tenant, 'ep_none', since)).toBe(none);
    expect(await operate('recover', tenant, endpointId, new Date(Date.now() + HOUR).toISOString())).toBe(none);
    await customer.ok(paths.update, { endpointId, disabled: true });
    await expect(operate('recover', tenant, endpointId, since)).rejects.toThrow(/^The endpoint is disabled/);
  });

  describe('resend', () => {
    const queued = () =>
      bodies('DeliverSlowQueue')
        .map((body) => JSON.parse(body) as { eventId: string; endpointId: string })
        .map(({ eventId, endpointId: to }) => [eventId, to])
        .sort();
    /** Emits an event and makes its first attempts. */
    const attempted = async () => {
      const eventId = await system.publish();
      while (system.firstQueue.messages.length > 0) await system.processNextMessage();
      return eventId;
    };

    test('sends a message to each endpoint that has not received it', async () => {
      const failing = await createEndpoint('/failing');
      const disabled = await createEndpoint('/disabled');
      for (const path of ['/failing', '/disabled']) hooks.answer(path, { status: 500 });
      const eventId = await attempted();
      await customer.ok(paths.update, { endpointId: disabled, disabled: true });
      const lines = (await operate('resend', tenant, eventId)).split('\n');
      expect(lines.sort()).toEqual([
        expect.stringMatching(new RegExp(`^Not sent to ${disabled}: The endpoint is disabled\\.`)),
        `Sending ${eventId} to ${failing} again.`,
      ]);
      expect(queued()).toEqual([[eventId, failing]]);
    });

    test('sends a delivered message only to an endpoint that is named, by its id or uid', async () => {
      const { id } = await customer.ok(paths.create, { url: hooks.url('/c'), uid: 'crm' });
      const eventId = await attempted();
      await expect(operate('resend', tenant, eventId)).rejects.toThrow(/^No endpoint has failed to receive msg_/);
      expect(queued()).toEqual([]);
      for (const [name, to] of [
        [endpointId, endpointId],
        ['crm', id],
      ])
        expect(await operate('resend', tenant, eventId, '--endpoint', name)).toBe(`Sending ${eventId} to ${to} again.`);
      expect(queued()).toEqual([endpointId, id].sort().map((to) => [eventId, to]));
      expect(await operate('message', tenant, eventId)).toMatch(new RegExp(`^${endpointId} +PENDING`, 'm'));
    });

    test('refuses a disabled endpoint, and endpoints, messages and API keys that do not exist', async () => {
      const eventId = await attempted();
      const resend = (...args: string[]) => operate('resend', ...args);
      await expect(resend(tenant, eventId, '--endpoint', 'ep_none')).rejects.toThrow(/No endpoint has this endpointId/);
      await expect(resend(tenant, 'msg_none')).rejects.toThrow(/^API key .* has no message msg_none/);
      await expect(resend('none', eventId)).rejects.toThrow(/^API key none does not exist/);
      await customer.ok(paths.update, { endpointId, disabled: true });
      await expect(resend(tenant, eventId, '--endpoint', endpointId)).rejects.toThrow(/^The endpoint is disabled/);
      expect(queued()).toEqual([]);
    });

    test('names the missing output of a stack that was deployed by an older version', async () => {
      const { WEBHOOK_RETRY_SCHEDULE: _, ...older } = process.env;
      await expect(run(['resend', tenant, 'msg'], older)).rejects.toThrow(
        'Stack CollaborationBackend has no output for WEBHOOK_RETRY_SCHEDULE. Deploy it with this version, and repeat the command.',
      );
    });
  });

  test('redrive sends all dead letters of one queue back, and none of other queues', async () => {
    const texts = times(23, (i) => JSON.stringify({ i }));
    send('DeliverSlowDeadLetters', ...texts);
    send('MailDeadLetters', '{}');
    expect(await operate('redrive', 'deliverSlow')).toBe('23 messages moved back to deliverSlow.');
    expect([...bodies('DeliverSlowQueue')].sort()).toEqual([...texts].sort());
    expect([bodies('DeliverSlowDeadLetters'), bodies('MailDeadLetters')]).toEqual([[], ['{}']]);
  });

  test.each([
    ['nothing', [], /^Usage: npm run deliveries -- status/],
    ['another command', ['stop'], /^Usage: /],
    ['a command of objects', ['constructor'], /^Usage: /],
    ['too few arguments', ['message', 'key'], /^Usage: /],
    ['too many arguments', ['status', 'x'], /^Usage: /],
    ['an unknown option', ['status', '--stakc', 'x'], /^Unknown option '--stakc'.*\n\nUsage: /s],
    [
      'an unknown queue',
      ['redrive', 'all'],
      /^Unknown queue "all"\. The queues are deliver, deliverSlow, mail, jobs, embed, sweep\.$/,
    ],
    ['an endpoint for another command', ['status', '--endpoint', 'ep'], /^Only resend has --endpoint\.\n\nUsage: /],
    ['no time', ['recover', 'key', 'ep', 'monday'], /^"monday" is not a time/],
    ['too early a time', ['recover', 'key', 'ep', '2020-01-01'], /^since must be at most 14 days ago$/],
    ['a message that does not exist', ['message', 'key', 'msg'], /^API key key has no message msg/],
    [
      'an API key that does not exist',
      ['endpoint', 'key', 'ep_basic_raw'],
      /^API key key does not exist\. "npm run workspace -- show <email>" lists/,
    ],
    ['a directory without a run', ['status', '--local', 'nowhere'], /^nowhere\/operator\.json does not exist/],
  ])('prints its usage with %s', async (_what, args, message) => {
    await expect(operate(...args)).rejects.toThrow(message);
  });
});

describe('the addresses of table and queues in npm run deliveries', () => {
  test('are read from the outputs and resources of a stack', async () => {
    const requests: string[] = [];
    const respond = async (request: IncomingMessage, response: ServerResponse) => {
      const query = new URLSearchParams(await text(request));
      const id = query.get('LogicalResourceId');
      requests.push(`${query.get('StackName')}: ${id ?? 'outputs'}`);
      response
        .setHeader('content-type', 'text/xml')
        .end(
          id === null
            ? `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Staging</StackName><Outputs><member><OutputKey>TableName</OutputKey><OutputValue>${TABLE_NAME}</OutputValue></member></Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`
            : `<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail><PhysicalResourceId>${urls.get(id)}</PhysicalResourceId></StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`,
        );
    };
    const server = createServer((request, response) => void respond(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    process.env.AWS_ENDPOINT_URL_CLOUDFORMATION = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      send('JobsDeadLetters', '{}');
      expect(await run(['status', '--stack', 'Staging'], {})).toMatch(/^jobs +0 +0 +0 +1$/m);
      expect(requests).toEqual(
        expect.arrayContaining(['Staging: outputs', 'Staging: JobsDeadLetters', 'Staging: DeliverSlowQueue']),
      );
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test('are read from the file that npm start writes for a local run', async () => {
    const variables = ['TABLE_NAME', ...Object.values(queueVariable)].map((name) => [name, process.env[name]]);
    await writeFile(join(dataDir, 'operator.json'), JSON.stringify(Object.fromEntries(variables)));
    send('DeliverDeadLetters', '{}');
    expect(await run(['status', '--local', dataDir], {})).toMatch(/^deliver +0 +0 +0 +1$/m);
  });
});
