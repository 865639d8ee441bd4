import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as Y from 'yjs';
import { EditorProvider } from '../../../lib/client/editorProvider.ts';
import { pages, ServiceError } from '../../../lib/client/userClient.ts';
import { clientOf, FakeLive } from '../../support/fakeLive.ts';

const name = { organizationId: 'acme', documentId: 'nda', editorId: 'summary' };

let service: FakeLive;
let providers: EditorProvider[];
beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 });
  service = new FakeLive();
  providers = [];
});
afterEach(async () => {
  const closing = Promise.all(providers.map((provider) => provider.destroy()));
  await wait(120_000);
  await closing;
  jest.useRealTimers();
});

function open(editorId = name.editorId): EditorProvider {
  const provider = new EditorProvider(new Y.Doc(), { ...name, editorId, client: clientOf(service.connection()) });
  providers.push(provider);
  return provider;
}

async function opened(): Promise<EditorProvider> {
  const provider = open();
  await wait();
  return provider;
}

const wait = (milliseconds = 400) => jest.advanceTimersByTimeAsync(milliseconds);
const textOf = (doc: Y.Doc) => doc.getText('content').toJSON();
const write = (doc: Y.Doc, text: string, at = 0) => doc.getText('content').insert(at, text);
const calls = () =>
  service.calls.filter(({ path }) => /versions|push/.test(path)).map(({ path, data }) => [path.slice(9), data]);

/** Returns the value or the status of the error of a call. */
async function answerOf<T>(call: Promise<T>, milliseconds = 120_000): Promise<T | string> {
  const answer = call.catch((error: unknown) => (error instanceof ServiceError ? error.status : (error as Error).name));
  await wait(milliseconds);
  return answer;
}

describe('the versions of an editor provider', () => {
  test('are kept, listed in pages, compared, named and deleted for its own editor', async () => {
    const { versions } = await opened();
    const { versionId } = (await answerOf(versions.add({ name: 'One', metadata: { stage: 1 } }))) as any;
    await answerOf(versions.add());
    const listed = (async () => {
      const found = [];
      for await (const page of pages(versions.list, { pageSize: 1 })) found.push(page);
      return found;
    })();
    expect(await answerOf(listed)).toEqual([
      { versions: [{ versionId: 'ver_1' }], nextPageToken: '1' },
      { versions: [{ versionId, name: 'One' }], nextPageToken: null },
    ]);
    await answerOf(versions.list({ named: true }));
    const [toNow, between] = [versions.compare(versionId), versions.compare(versionId, 'ver_1')];
    expect([await answerOf(toNow), await answerOf(between)]).toEqual(
      ['ver_0 to now', 'ver_0 to ver_1'].map((insert) => ({ operations: [{ at: 0, delete: 0, insert }] })),
    );
    await answerOf(versions.rename(versionId, 'Uno'));
    expect(await answerOf(versions.delete([versionId]))).toEqual({ ver_0: { success: true, message: '' } });
    expect(calls()).toEqual([
      ['versions/add', { ...name, name: 'One', metadata: { stage: 1 } }],
      ['versions/add', name],
      ['versions/get', { ...name, pageSize: 1 }],
      ['versions/get', { ...name, pageSize: 1, pageToken: '1' }],
      ['versions/get', { ...name, named: true }],
      ['versions/compare', { ...name, from: versionId }],
      ['versions/compare', { ...name, from: versionId, to: 'ver_1' }],
      ['versions/update', { ...name, versionId, name: 'Uno' }],
      ['versions/delete', { ...name, versionIds: [versionId] }],
    ]);
  });

  test('are shown in a document whose edits go nowhere, with the value also if one answer has no room for both', async () => {
    write(service.editor, 'then');
    const versionId = service.keepVersion('Then');
    write(service.editor, 'now and ');
    const provider = await opened();
    const preview = await answerOf(provider.versions.preview(versionId));
    if (typeof preview === 'string') throw new Error(preview);
    expect([textOf(preview.doc), preview.value, preview.version]).toEqual([
      'then',
      'then',
      { versionId, name: 'Then' },
    ]);
    write(preview.doc, 'edit');
    await wait(10_000);
    expect([textOf(service.editor), textOf(provider.doc), provider.saved]).toEqual([
      'now and then',
      'now and then',
      true,
    ]);
  });

  test.each([
    ['have not been sent', 0, 0],
    ['are on their way', 104, 0],
    ['wait for those that are on their way', 104, 150],
  ])(
    'are restored after edits that %s, so that the version of the state before has them',
    async (_what, until, then) => {
      write(service.editor, 'then');
      const versionId = service.keepVersion();
      const provider = await opened();
      // Each later call travels faster, so it would overtake those before it.
      let pause = 260;
      service.latency = () => Math.max((pause -= 60), 5);
      write(provider.doc, 'typed ');
      await wait(until);
      write(provider.doc, 'just ');
      await wait(then);
      const restored = await answerOf(provider.versions.restore(versionId));
      expect(restored).toEqual({ restoredVersionId: versionId, keptVersionId: 'ver_1' });
      expect([textOf(service.versions[1]!.doc), textOf(provider.doc)]).toEqual(['just typed then', 'then']);
    },
  );

  test('are kept with edits that have not been sent', async () => {
    const provider = await opened();
    write(provider.doc, 'typed');
    await answerOf(provider.versions.add({ name: 'Mine' }));
    expect(textOf(service.versions[0]!.doc)).toBe('typed');
  });

  test.each([
    ['an edit cannot be sent', 'PERMISSION_DENIED'],
    ['the service is not reached', 'UNAVAILABLE'],
  ] as const)('are not restored if %s', async (_why, status) => {
    const versionId = service.keepVersion();
    const provider = await opened();
    service.refusals.set('/v2/crdt/updates/push', status);
    write(provider.doc, 'typed');
    expect(await answerOf(provider.versions.restore(versionId))).toBe(status);
    expect(calls().filter(([path]) => path === 'versions/restore')).toEqual([]);
  });

  test('are not restored before the first read, and not by a provider that was destroyed before it', async () => {
    write(service.editor, 'then');
    const versionId = service.keepVersion();
    service.isDown = true;
    const [waiting, destroyed] = [open(), open()];
    const outcomes = [waiting, destroyed].map((provider) => answerOf(provider.versions.restore(versionId), 0));
    await Promise.all([destroyed.destroy(), wait(5_000)]);
    service.isDown = false;
    await wait(120_000);
    expect(await Promise.all(outcomes)).toEqual([
      { restoredVersionId: versionId, keptVersionId: 'ver_1' },
      'AbortError',
    ]);
  });

  test('tell every open provider of the editor that one was restored', async () => {
    write(service.editor, 'then');
    const versionId = service.keepVersion();
    const [ada, grace, other] = [open(), open(), open('other')];
    const told: unknown[] = [];
    for (const [index, provider] of [ada, grace, other].entries())
      provider.on('restored', (event) => told.push([index, event]));
    await wait();
    write(grace.doc, 'now ');
    await wait();
    service.calls.length = 0;
    await answerOf(ada.versions.restore(versionId));
    expect(told).toEqual([
      [0, { versionId }],
      [1, { versionId }],
    ]);
    expect([textOf(ada.doc), textOf(grace.doc)]).toEqual(['then', 'then']);
    expect(service.calls.filter(({ path }) => path === '/v2/crdt/updates/get')).toEqual([]);
  });
});
