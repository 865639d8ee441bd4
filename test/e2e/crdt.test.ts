import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RemoteEditor } from '../support/remoteEditor.ts';
import { RemoteReceiver } from '../support/remoteReceiver.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { times } from '../support/times.ts';
import { startSystem, type System } from './system.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };
const editor = { ...nda, editorId: 'summary' };
/** Returns words of 2 KB that hardly compress. About two dozen of them are enough to start a compaction of the log. */
const words = (name: string, count: number) =>
  times(count, (index) => `${name}${index}-${randomBytes(1_000).toString('hex')}`);

let system: System;
let receiver: RemoteReceiver;
let editors: RemoteEditor[];
beforeAll(async () => {
  [system, receiver] = await Promise.all([startSystem({ dataDir }), RemoteReceiver.start()]);
  editors = [new RemoteEditor(), new RemoteEditor()];
});
afterAll(async () => {
  for (const editor of editors) editor.stop();
  await Promise.all([system.stop(), receiver.stop()]);
});
const dataDir = temporaryFolder();

const valueOf = async () => (await system.client.v2.crdt.get(editor)).data[0]?.data as string;

/**
 * Lets two clients type `count` words each, and returns their final texts. One client syncs by version, the other one
 * by state vector.
 */
function type(count: number, name: string): Promise<string[]> {
  const { baseUrl, headers } = system;
  return Promise.all(
    editors.map((client, index) =>
      client.run({ baseUrl, headers, editor, byVersion: index === 0, words: words(`${name}${index}.`, count) }),
    ),
  );
}

test('Yjs clients and concurrent REST replaces converge, and no acknowledged data are lost', async () => {
  await system.client.v2.organizations.documents.add({
    organizationId: 'acme',
    createOrganization: true,
    documents: [{ documentId: 'nda' }],
  });
  await system.client.v2.workspace.advancedwebhookconfig.update({ isEnabled: true });
  await system.client.v2.workspace.advancedwebhook.endpoints.create({
    url: receiver.url('/editors'),
    filterTypes: ['crdt.update_data'],
  });
  await system.client.v2.crdt.add({ ...editor, type: 'text', data: 'start ' });

  let isOver = false;
  let replaces = 0;
  const replacing = async () => {
    do await system.client.v2.crdt.update({ ...editor, type: 'text', data: `r${(replaces += 1)} ${await valueOf()}` });
    while (!isOver);
  };
  const typing = type(15, 'w').finally(() => {
    isOver = true;
  });
  await Promise.all([typing, replacing()]);
  expect(replaces).toBeGreaterThan(1);
  expect(await valueOf()).toContain(`r${replaces} `);

  // No request replaces the value any more. The value must now contain the last replaced text and the texts of both
  // clients.
  await type(1, 'last');
  const [byVersion, byVector] = await type(0, '');
  const value = await valueOf();
  expect([byVersion, byVector]).toEqual([value, value]);
  for (const word of [`r${replaces} `, 'last0.0-', 'last1.0-']) expect(value).toContain(word);

  await receiver.waitForWebhooks('/editors', 1, ({ body }) => JSON.parse(body).data.crdtData.data === value);
  const event = JSON.parse(receiver.at('/editors').at(-1)!.body);
  expect(event).toMatchObject({
    event: 'crdt.update_data',
    actionType: 'updateData',
    source: 'crdt',
    data: { actionUser: { userId: 'ada' }, crdtData: { id: 'summary', lastUpdatedBy: 'ada' } },
  });

  // Acknowledged data survive a kill and a stop.
  await system.kill();
  system = await startSystem({ dataDir });
  expect(await valueOf()).toBe(value);
  await system.client.v2.crdt.update({ ...editor, type: 'text', data: `${value}after` });
  expect(await type(0, '')).toEqual([`${value}after`, `${value}after`]);
});
