import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ConsoleState } from '../../infra/local/console/consoleState.ts';
import type { PartName } from '../../infra/local/parts.ts';
import { findProcesses } from '../../infra/local/processes.ts';
import { createClient, type Methods, ServiceError } from '../../lib/client/index.ts';
import { createUserClient } from '../../lib/client/userClient.ts';
import { limits } from '../../lib/shared/schema.ts';
import { RemoteReceiver } from '../support/remoteReceiver.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { times } from '../support/times.ts';
import { clockAhead, mailsIn, mailsOnce, startSystem, type System, until } from './system.ts';

const organizationId = 'acme';
const nda = { organizationId, documentId: 'nda' };
const [ada, grace] = [
  { userId: 'ada', name: 'Ada', email: 'ada@example.com' },
  { userId: 'grace', name: 'Grace', email: 'grace@example.com' },
];
const HOOK = '/hook';
/** A schedule of many short pauses. Retries of mails and webhooks do not run out during a test. */
const often = ['0', ...Array<string>(60).fill('1')].join();
const timing = {
  SCHEDULE_SECONDS: '3',
  WEBHOOK_RETRY_SCHEDULE: often,
  MAIL_RETRY_SCHEDULE: often,
  DUE_MARGIN_SECONDS: '60',
  RECONCILE_AFTER_SECONDS: '60',
};
/** The number of faults that activates an alarm. */
const FAULTS = 5;
/**
 * A failing call must end within this time (milliseconds). It is shorter than every time-out: a stopped part refuses
 * calls at once, and the service must answer at once too. On a slow machine, the limit is longer.
 */
const SOON_MILLISECONDS = 5_000;
const POLL_MILLISECONDS = 100;
const MENTION_MILLISECONDS = 500;

// All tests share one system and one workspace, and run in this order. The last test kills and restarts the system.
describe('outage of a part of the system', () => {
  let receiver: RemoteReceiver;
  let system: System;
  /** A client that retries temporary errors often, like a customer's. */
  let patient: Methods;
  /** A client that never retries, so that a test sees the result of each attempt. */
  let impatient: Methods;
  /** The time limit of failing calls on this machine, in milliseconds. */
  let soon: number;
  /** The ids of events whose publication was confirmed. */
  const acknowledged: string[] = [];

  beforeAll(async () => {
    receiver = await RemoteReceiver.start();
    await start();
    const { v2 } = patient;
    const startedAt = performance.now();
    await v2.organizations.documents.add({
      organizationId,
      createOrganization: true,
      documents: [{ documentId: 'nda', documentName: 'NDA' }],
    });
    // The first request also starts its function.
    soon = Math.max(SOON_MILLISECONDS, 10 * (performance.now() - startedAt));
    await v2.users.add({ ...nda, users: [ada, grace] });
    await v2.workspace.advancedwebhookconfig.update({ isEnabled: true });
    await v2.workspace.advancedwebhook.endpoints.create({
      url: receiver.url(HOOK),
      filterTypes: ['execution.completed'],
    });
    await v2.workspace.emailconfig.update({ useEmailService: true, emailServiceConfig: { fromCompany: 'Acme' } });
  });

  afterAll(() => Promise.all([system.stop(), receiver.stop()]));
  const dataDir = temporaryFolder();

  // Undoes what a failed test left, so that the next tests can pass.
  afterEach(async () => {
    for (const name of ['table', 'queues', 'mail', 'live'] as const) await switchPart(name, true);
  });

  async function start(preload?: string): Promise<void> {
    // The template was built with another service name. The dashboard must still find the metrics of this system.
    const serviceName = 'acme';
    system = await startSystem({
      dataDir,
      // One user gets more mails in these tests than the limit of an hour.
      env: { ...timing, SERVICE_NAME: serviceName, MAILS_PER_RECIPIENT_PER_HOUR: '0' },
      ...(preload !== undefined && { preload }),
    });
    const { baseUrl, apiKey, authToken } = system.credentials;
    const credentials = { baseUrl, serviceName, apiKey, authToken };
    [patient, impatient] = [
      createClient({ ...credentials, attempts: 60 }),
      createClient({ ...credentials, attempts: 1 }),
    ];
  }

  async function switchPart(name: PartName, running: boolean): Promise<void> {
    const response = await fetch(`${system.baseUrl}/_local/parts/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ running }),
    });
    const { parts } = (await response.json()) as Pick<ConsoleState, 'parts'>;
    expect(parts.find((part) => part.name === name)).toMatchObject({ running });
  }

  async function state(): Promise<ConsoleState> {
    return (await fetch(`${system.baseUrl}/_local/dashboard.json?minutes=15`)).json() as Promise<ConsoleState>;
  }

  /** Waits until the dashboard data meet a condition. Returns the data. */
  function waitForState(like: (state: ConsoleState) => boolean): Promise<ConsoleState> {
    return until(state, like, ({ alarms }) => `${JSON.stringify(alarms.slice(0, 10))}\n${system.logs()}`);
  }

  /** Returns the alarms that send a notice now. */
  const notices = ({ alarms }: ConsoleState) =>
    alarms.filter((alarm) => alarm.active && alarm.notifies && alarm.suppressedBy === null).map(({ name }) => name);
  const ringing = ({ alarms }: ConsoleState, name: string) =>
    alarms.find((alarm) => alarm.name === name && alarm.active);
  /** Returns the measured values of a line in a graph. Times without a measurement are left out. */
  const line = ({ rows }: ConsoleState, row: string, graph: string, label: string): number[] => {
    const series = rows.find(({ title }) => title.includes(row))!.graphs.find(({ title }) => title === graph)!.series;
    return (series.find((each) => each.label === label)?.values ?? []).filter((value) => value !== null);
  };

  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

  const publish = (client: Methods, count: number) =>
    Promise.all(
      times(count, async () =>
        acknowledged.push((await client.v2.events.publish({ ...nda, event: 'execution.completed' })).data.eventId),
      ),
    );
  const delivered = () =>
    new Set(
      receiver
        .at(HOOK)
        .filter(({ answeredStatus }) => answeredStatus === 200)
        .map(({ headers }) => headers['webhook-id']),
    );
  const missing = () => acknowledged.filter((id) => !delivered().has(id));
  const allDelivered = () =>
    receiver.waitUntil(
      () => missing().length === 0,
      () => `${missing().length} of ${acknowledged.length} webhooks are missing`,
    );

  /** Resolves when all queues and dead-letter queues are empty. */
  async function drained(): Promise<void> {
    const database = new DatabaseSync(join(dataDir, 'queues.db'), { readOnly: true });
    try {
      const messages = database.prepare('SELECT COUNT(*) AS count FROM messages');
      while (messages.get()!.count !== 0) await delay(POLL_MILLISECONDS);
    } finally {
      database.close();
    }
  }

  /** Returns the error of a call. Checks that the call fails in time. */
  async function refusal(call: () => Promise<unknown>): Promise<{ httpStatus: number; status: string }> {
    const since = performance.now();
    const error: unknown = await call().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(performance.now() - since).toBeLessThan(soon);
    expect(error).toBeInstanceOf(ServiceError);
    const { httpStatus, status, requestId } = error as ServiceError;
    expect(requestId).toEqual(expect.any(String));
    return { httpStatus, status };
  }
  const unavailable = { httpStatus: 503, status: 'UNAVAILABLE' };

  const mention = (annotationId: string) =>
    patient.v2.commentannotations.add({
      ...nda,
      commentAnnotations: [
        {
          annotationId,
          commentData: [
            {
              commentText: `In ${annotationId}`,
              from: ada,
              taggedUserContacts: [{ userId: 'grace', text: '@grace' }],
              triggerNotification: true,
            },
          ],
        },
      ],
    });

  const withText = (mails: readonly string[], text: string) => mails.filter((mail) => mail.includes(text));
  /** Waits for a mail with this text. Returns all mails that contain it. */
  const mailed = async (text: string) =>
    withText(await mailsOnce(dataDir, (mails) => withText(mails, text).length > 0), text);
  const mailsWith = async (text: string) => withText(await mailsIn(dataDir), text);

  const succeeds = (call: Promise<unknown>) =>
    call.then(
      () => true,
      (error: unknown) => {
        expect(error).toBeInstanceOf(ServiceError);
        return false;
      },
    );
  const addOrganization = async (client: Methods, id: string): Promise<void> => {
    const { data } = await client.v2.organizations.add({ organizations: [{ organizationId: id }] });
    // A request that was answered UNAVAILABLE may have succeeded. Then its retry finds the organization.
    if (!data[id]!.success) expect(data[id]).toMatchObject({ message: 'Organization already exists.' });
  };
  /** Returns those of the given organizations that exist. */
  async function organizations(ids: readonly string[]): Promise<string[]> {
    const pages = times(Math.ceil(ids.length / limits.readIds), (page) =>
      ids.slice(page * limits.readIds, (page + 1) * limits.readIds),
    );
    const listedPages = await Promise.all(
      pages.map((organizationIds) => patient.v2.organizations.get({ organizationIds })),
    );
    return listedPages.flatMap(({ data }) => data.map(({ id }) => id)).sort();
  }

  test('without the table, callers get UNAVAILABLE soon, one notice is sent, and later retries succeed without loss', async () => {
    await addOrganization(patient, 'before');
    await publish(patient, 5);
    await switchPart('table', false);
    const engine = await findProcesses('--db-path', join(dataDir, 'table.db'));
    const attempts: (() => Promise<unknown>)[] = [
      ...times(FAULTS, () => () => addOrganization(impatient, 'refused')),
      ...times(FAULTS, () => () => impatient.v2.users.add({ ...nda, users: [ada] })),
      ...times(FAULTS, () => () => impatient.v2.commentannotations.get(nda)),
      () => impatient.v2.organizations.get({}),
      () => impatient.v2.events.publish({ ...nda, event: 'execution.completed' }),
      () => impatient.v2.workspace.email.status({ ownerEmail: system.credentials.ownerEmail }),
      () => impatient.v2.crdt.get({ ...nda }),
    ];
    expect(engine).toEqual([]);
    expect(await Promise.all(attempts.map(refusal))).toEqual(attempts.map(() => unavailable));
    const during = await waitForState(
      (now) =>
        ['ApiFaults', 'V2OrganizationsFaults', 'V2UsersFaults', 'V2CommentannotationsFaults'].every(
          (name) => ringing(now, name) !== undefined,
        ) && notices(now).length > 0,
    );
    expect(notices(during)).toEqual(['TableCause']);
    expect(ringing(during, 'TableCause')!.contributors).toEqual(['TableFails']);
    for (const name of ['V2CommentannotationsNotice', 'V2OrganizationsNotice', 'V2UsersNotice'])
      expect(ringing(during, name)).toMatchObject({ suppressedBy: 'TableCause' });
    expect(ringing(during, 'GatewayCause')).toMatchObject({ suppressedBy: 'TableCauseOrFamilies' });
    expect(ringing(during, 'V2OrganizationsNotice')!.contributors).toEqual([
      'V2OrganizationsFaults (v2.organizations.add)',
    ]);
    expect(ringing(during, 'V2OrganizationsFaults')!.contributors).toEqual(['v2.organizations.add']);
    expect(Math.max(...line(during, 'Health', '4xx, 5xx', '5xx'))).toBeGreaterThan(0);
    expect(during.parts).toMatchObject([
      { name: 'table', running: false },
      { name: 'queues', running: true },
      { name: 'mail', running: true },
      { name: 'live', running: true },
    ]);

    const retried = Promise.all([addOrganization(patient, 'during'), publish(patient, 3)]);
    await switchPart('table', true);
    await retried;
    expect(await organizations(['before', 'during', 'refused'])).toEqual(expect.arrayContaining(['before', 'during']));
    await allDelivered();
    await drained();
    expect(notices(await state())).toEqual(['TableCause']);
  });

  test('without the mail provider, mails wait and are sent once, and login links answer UNAVAILABLE', async () => {
    const link = (client: Methods) => () =>
      client.v2.workspace.email.sendLoginLink({
        email: system.credentials.ownerEmail,
        continueUrl: `${system.baseUrl}/welcome`,
      });
    await mention('before-mail');
    await mailed('before-mail');
    await switchPart('mail', false);
    const runs = (now: ConsoleState) => sum(line(now, 'Queues and workers', 'Runs', 'sendEmail'));
    const before = runs(await state());
    // The failed attempts of several mails come within seconds, and so activate the alarm.
    await Promise.all(['during-mail', 'also-1', 'also-2', 'also-3'].map(mention));
    const attempts = times(FAULTS, () => link(impatient));
    expect(await Promise.all(attempts.map(refusal))).toEqual(attempts.map(() => unavailable));
    const during = await waitForState(
      (now) =>
        ringing(now, 'V2WorkspaceFaults') !== undefined &&
        ringing(now, 'MailFails') !== undefined &&
        runs(now) > before,
    );
    expect(ringing(during, 'V2WorkspaceFaults')!.contributors).toEqual(['v2.workspace.email.send-login-link']);
    expect(await mailsWith('during-mail')).toEqual([]);

    const retried = link(patient)();
    await switchPart('mail', true);
    await retried;
    await mailed('verif');
    for (const text of ['during-mail', 'also-1', 'also-2', 'also-3']) expect(await mailed(text)).toHaveLength(1);
    await drained();
    expect(await mailsWith('during-mail')).toHaveLength(1);
  });

  test('without the push service, calls succeed, an alarm is raised, and clients read each missed change once', async () => {
    const { baseUrl } = system;
    const token = async () => {
      const resources = [{ type: 'document', id: 'nda', organizationId, accessRole: 'editor' } as const];
      const { userId, ...userProperties } = ada;
      const request = { userId, userProperties, permissions: { resources } };
      return (await patient.v2.auth.generate_token(request)).data.token;
    };
    const live = createUserClient({ baseUrl, token }).live(nda);
    const statuses: string[] = [];
    const shown: unknown[] = [];
    live.on('status', (status) => statuses.push(status));
    live.on('hint', ({ type, ids }) => type === 'comment_annotation.add' && shown.push(ids?.annotationId));
    const hasShown = async (ids: readonly string[]) => {
      while (shown.length < ids.length) await delay(POLL_MILLISECONDS);
      expect(shown).toEqual(ids);
    };
    try {
      while (live.status !== 'live') await delay(POLL_MILLISECONDS);
      await mention('before-live');
      await hasShown(['before-live']);
      await switchPart('live', false);
      const ids: string[] = [];
      let isRinging = false;
      const mentionOften = async () => {
        while (!isRinging) {
          const id = `during-live-${ids.length}`;
          await mention(id);
          ids.push(id);
          // Without this pause, one publish would send the events of several changes.
          await delay(MENTION_MILLISECONDS);
        }
      };
      const mentioning = mentionOften();
      try {
        await waitForState((now) => ringing(now, 'LivePublishesFail') !== undefined);
      } finally {
        isRinging = true;
        await mentioning;
      }
      expect(statuses).toContain('offline');
      expect(shown).toEqual(['before-live']);

      await switchPart('live', true);
      await mention('after-live');
      await hasShown(['before-live', ...ids, 'after-live']);
    } finally {
      await live.close();
    }
  });

  test('a table engine that is killed under load restarts by itself, and keeps every acknowledged write', async () => {
    const ids: string[] = [];
    // A killed engine can leave the claim of an idempotency key for a minute, so each attempt has a key of its own.
    const add = (id: string) => until(() => succeeds(addOrganization(impatient, id)), Boolean);
    const write = async (writer: number) => {
      for (let n = 0; n < 20; n++) {
        await add(`load-${writer}-${n}`);
        ids.push(`load-${writer}-${n}`);
        if (ids.length === 20)
          for (const { pid } of await findProcesses('--db-path', join(dataDir, 'table.db')))
            process.kill(pid, 'SIGKILL');
      }
    };
    await Promise.all([write(0), write(1), write(2), write(3)]);
    await system.printed(/^The table engine ended unexpectedly and is started again/m);
    expect(ids).toHaveLength(80);
    expect(await organizations(ids)).toEqual(ids.sort());
  });

  test('without the queues, requests succeed, an alarm is raised, and all deliveries are made afterwards', async () => {
    await drained();
    const failures = (now: ConsoleState) => sum(line(now, 'Queues and workers', 'Failures', 'fanOutEvents'));
    const before = failures(await state());
    await switchPart('queues', false);
    const calls: (() => Promise<unknown>)[] = [() => publish(impatient, 4), () => mention('during-queues')];
    for (const call of calls) {
      const since = performance.now();
      await call();
      expect(performance.now() - since).toBeLessThan(soon);
    }
    const during = await waitForState((now) => failures(now) >= before + FAULTS);
    expect(ringing(during, 'WorkersFail')?.contributors).toContain('fanOutEvents');
    expect(missing()).toHaveLength(4);
    expect(await mailsWith('during-queues')).toEqual([]);

    await switchPart('queues', true);
    await allDelivered();
    expect(await mailed('during-queues')).toHaveLength(1);
    await drained();
  });

  test('acknowledged work is done after a restart when the queues fail and then the whole system is killed', async () => {
    await drained();
    await switchPart('queues', false);
    await publish(impatient, 4);
    await mention('before-kill');
    // The queues are stopped, so the message of this job is lost. Only the sweep can find the job in the table.
    const {
      data: { jobId },
    } = await impatient.v2.users.data.delete({ organizationIds: [organizationId], userIds: ['grace'] });
    await system.kill();

    // The sweep takes a job only five minutes after its last message.
    await start(clockAhead(400));
    await allDelivered();
    expect(await mailed('before-kill')).toHaveLength(1);
    while (!(await patient.v2.users.data.delete.status({ jobId })).data.isDeleteCompleted)
      await delay(POLL_MILLISECONDS);
    await drained();
    const now = await waitForState((each) => line(each, 'Health', 'Dead letters', 'stream').length > 0);
    // Only alarms about late records of the stream may still be active.
    const activeAlarms = now.alarms
      .filter(({ active: rings, threshold }) => rings && threshold !== null)
      .map(({ name }) => name);
    expect(activeAlarms).toContain('FanOutEventsBehind');
    expect(activeAlarms.filter((name) => !['FanOutEventsBehind', 'PublishLiveBehind'].includes(name))).toEqual([]);
    for (const label of ['deliver', 'deliverSlow', 'mail', 'jobs', 'embed', 'sweep', 'stream'])
      expect(Math.max(...line(now, 'Health', 'Dead letters', label))).toBe(0);
    expect(now.parts.map(({ running }) => running)).toEqual([true, true, true, true]);
  });
});
