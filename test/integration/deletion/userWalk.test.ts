import { expect, test } from '@jest/globals';
import { addInvolvement, removeReadInvolvement } from '../../../lib/content/involvements.ts';
import { type ContentKind, defineContentKind } from '../../../lib/content/kind.ts';
import { type UserWalk, type WalkPosition, walkUsers } from '../../../lib/deletion/userWalk.ts';
import { recordRename } from '../../../lib/directory/renamedDocuments.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { storedOrganizationScope } from '../../support/storedScope.ts';

const { customer } = acmeWorld({ documents: ['nda', 'offer'], table: 'memory' });

const nothing: Omit<ContentKind, 'name'> = {
  hint: 'none',
  ids: 'none',
  rename: 'none',
  involve: 'none',
  locate: 'none',
  purge: 'none',
  remove: 'none',
  erase: 'none',
};

/** Returns a kind of its own, and what the walk calls of it. */
function notes() {
  const calls: string[] = [];
  const kind = defineContentKind({
    ...nothing,
    name: 'note',
    remove: ({ mode, scope, table: on }, involvement) => {
      calls.push(`${mode} ${involvement.id}`);
      return on.tryWrite([removeReadInvolvement(scope, involvement)]);
    },
    erase: {
      entities: [],
      erase: ({ mode }, after) => {
        calls.push(`${mode} page after ${after}`);
        return Promise.resolve(after === undefined ? 'a' : undefined);
      },
    },
  });
  const ofOrganization = {
    entities: [],
    removeUsers: (_table: unknown, _scope: unknown, { documents }: object & { documents?: unknown }, from?: string) => {
      calls.push(`organization from ${from}${documents ? ' in documents' : ''}`);
      return Promise.resolve(from === undefined ? { after: 'b' } : ('done' as const));
    },
  };
  const log = defineContentKind({ ...nothing, name: 'log', remove: ofOrganization, erase: ofOrganization });
  const early = { ...ofOrganization, isEarly: true };
  const index = defineContentKind({ ...nothing, name: 'index', remove: early, erase: early });
  return { calls, kinds: [kind, log, index] };
}

async function walked(
  mode: UserWalk['mode'],
  isLastPass: boolean,
  { within, deadline = Infinity }: { within?: ReadonlySet<string>; deadline?: number } = {},
): Promise<string[]> {
  const scope = await storedOrganizationScope(customer);
  const involvement = { userId: 'ada', documentKey: 'doc', createdAt: 1, at: 1, made: true };
  for (const id of ['n1', 'n2']) await table.write([addInvolvement(scope, { ...involvement, kind: 'note', id })]);
  const { calls, kinds } = notes();
  const limitsOf = () => ({ access: 2, content: 2 });
  const walk = { table, scope, mode, isLastPass, userIds: ['ada', 'bob'], at: 2, within, limitsOf, kinds };
  let position: WalkPosition | 'done' = { user: 0 };
  for (let steps = 0; position !== 'done'; steps++) {
    if (steps === 20) throw new Error('The walk does not end');
    position = await walkUsers(walk, JSON.parse(JSON.stringify(position)), { clock: () => 0, deadline });
  }
  return calls;
}

const documents = ['erase page after undefined', 'erase page after a'];
const everything = [...documents, ...documents, 'erase n1', 'erase n2'];
const partition = ['organization from undefined', 'organization from b'];

test('an erasure walks through all documents, users and partitions of a kind', async () => {
  expect((await walked('erase', true)).toSorted()).toEqual([...everything, ...partition, ...partition].toSorted());
});

test('an erasure walks through a document that a migration gave an earlier id meanwhile', async () => {
  const scope = await storedOrganizationScope(customer);
  const renamed = { documentKey: 'doc', documentId: 'before', renamedAt: Date.now() };
  await table.write([recordRename(scope, renamed)]);
  const calls = (await walked('erase', true)).filter((call) => documents.includes(call));
  expect(calls.toSorted()).toEqual([...documents, ...documents, ...documents].toSorted());
});

test('the first pass of an erasure reads documents and partitions only of early kinds', async () => {
  expect(await walked('erase', false)).toEqual(['erase n1', 'erase n2', ...partition]);
});

test('a removal walks through users, and in the last pass through partitions', async () => {
  expect(await walked('remove', false)).toEqual(['remove n1', 'remove n2']);
  expect(await walked('remove', true)).toEqual(['remove n1', 'remove n2', ...partition, ...partition]);
});

test('a removal from documents stays within them', async () => {
  const inDocuments = partition.map((call) => `${call} in documents`);
  expect(await walked('remove', true, { within: new Set(['other']) })).toEqual([...inDocuments, ...inDocuments]);
  expect(await walked('remove', false, { within: new Set(['doc']) })).toEqual(['remove n1', 'remove n2']);
});

test('a removal makes progress although its time is over from the start', async () => {
  const calls = await walked('remove', true, { deadline: -1 });
  expect(calls).toEqual(['remove n1', 'remove n2', ...partition, ...partition]);
});

test('a kind that does nothing is skipped', async () => {
  const scope = await storedOrganizationScope(customer);
  const kinds = [defineContentKind({ ...nothing, name: 'none' })];
  const walk = { table, scope, isLastPass: true, userIds: ['ada'], at: 2, limitsOf: () => undefined, kinds };
  for (const mode of ['remove', 'erase'] as const)
    expect(await walkUsers({ ...walk, mode }, { user: 0 }, { clock: () => 0, deadline: 1 })).toBe('done');
});
