import { expect } from '@jest/globals';
import fc from 'fast-check';
import { threadTransaction } from '../../../lib/comments/commitThread.ts';
import { eraseReactions, removeReactor } from '../../../lib/comments/reactionUserRemoval.ts';
import type { Comment } from '../../../lib/comments/rules/comments.ts';
import { lastSeenAt } from '../../../lib/comments/rules/readState.ts';
import { NO_PARTS, type ThreadParts } from '../../../lib/comments/rules/threadParts.ts';
import { type Thread, withComments } from '../../../lib/comments/rules/threads.ts';
import { CommentEntity, ThreadEntity } from '../../../lib/comments/threads.ts';
import { eraseThreads, removeCommentUser } from '../../../lib/comments/userRemoval.ts';
import type { DocumentScope } from '../../../lib/content/documentScope.ts';
import { InvolvementEntity } from '../../../lib/content/involvements.ts';
import type { DocumentRemoval, RemovalMode } from '../../../lib/content/userRemoval.ts';
import { ReactionEntity } from '../../../lib/reactions/reactions.ts';
import type { Reaction } from '../../../lib/reactions/rules.ts';
import { retryOnConflict } from '../../../lib/table/retryOnConflict.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { deleteItem, itemsOfTenant } from '../../support/items.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';
import { testAsyncProperty } from '../../support/testProperty.ts';
import { addThreads, comment, thread } from '../../support/threads.ts';

// Random commands change two threads and three reactions, sometimes several at once. Afterwards the table must have exactly the
// items that one derivation from the remaining threads, comments and reactions gives.
const { engine, customer } = acmeWorld({ table: 'memory', documents: ['nda'] });

const itemTypes = ['Thread', 'Comment', 'Reaction', 'RecordId', 'Involvement', 'Job'];

/** Returns the items that threads leave, without those of the document itself. */
async function threadItems(): Promise<Record<string, any>[]> {
  return (await itemsOfTenant(engine, customer.apiKey)).filter(({ _t }) => itemTypes.includes(_t));
}

/** Returns the threads of the table with all their comments and reactions. The last one has the reactions to the document. */
function partsIn(items: readonly Record<string, any>[]): ThreadParts[] {
  const now = Date.now();
  const read = <T>(type: string, { fromItem }: { fromItem(item: Record<string, any>, now: number): T | undefined }) =>
    items.filter(({ _t }) => _t === type).map((item) => fromItem(item, now)!);
  const threads = read<Thread>('Thread', ThreadEntity);
  const comments = read<Comment>('Comment', CommentEntity);
  const reactions = read<Reaction>('Reaction', ReactionEntity);
  return [...threads, undefined].map((of) => ({
    thread: of,
    comments: comments.filter(({ annotationId }) => annotationId === of?.annotationId),
    reactions: reactions.filter(({ on }) => on?.annotationId === of?.annotationId),
  }));
}

/** Returns what items say, by their keys. Revisions, write ids and the times of involvements depend on the past of an item. */
function byKey(items: readonly Record<string, any>[]): Record<string, unknown> {
  const byKeys = Map.groupBy(items, ({ PK, SK }) => `${PK} ${SK}`);
  return Object.fromEntries(
    [...byKeys].map(([key, [item]]) => [key, { ...item, _r: undefined, _w: undefined, since: undefined }]),
  );
}

/** Checks that the table has the items that a derivation from its threads gives, besides involvements that `removed` names. */
async function checkItems(scope: DocumentScope, removed: ReadonlySet<string>): Promise<void> {
  const items = await threadItems();
  const parts = partsIn(items);
  const ops = parts.flatMap(
    (after) => threadTransaction({ scope, now: Date.now() }, NO_PARTS, { after, events: [] }).ops,
  );
  const [stored, derived] = [byKey(items), byKey(ops.flatMap((op) => ('put' in op ? [op.put] : [])))];
  const isRemoved = (key: string) => removed.has(key) && !(key in stored);
  expect(stored).toEqual(Object.fromEntries(Object.entries(derived).filter(([key]) => !isRemoved(key))));
  const reactionIds = (reactions: readonly Reaction[]) => reactions.map(({ annotationId }) => annotationId).sort();
  for (const { thread: head, comments, reactions } of parts) {
    expect(comments.flatMap((each) => each.reactions ?? []).map(({ id }) => id)).toHaveLength(
      head ? reactions.length : 0,
    );
    if (!head) continue;
    expect(
      comments
        .flatMap((each) => each.reactions ?? [])
        .map(({ id }) => id)
        .sort(),
    ).toEqual(reactionIds(reactions));
    const { participants, commentCount } = withComments(head, comments);
    expect([participantsOf(head), head.commentCount]).toEqual([participantsOf({ participants }), commentCount]);
    for (const { from, createdAt } of comments)
      expect(lastSeenAt(head, from.userId, undefined)).toBeGreaterThanOrEqual(createdAt);
    expect(comments.find(({ commentId }) => commentId === head.first.commentId)?.createdAt).toBe(head.first.createdAt);
    const last = comments.find(({ commentId }) => commentId === head.last.commentId);
    expect([last?.from.userId, last?.commentId]).toEqual([
      head.last.userId,
      Math.max(...comments.map((each) => each.commentId)),
    ]);
  }
}

/** Without the times, which do not depend on the remaining comments alone. */
function participantsOf({ participants }: Pick<Thread, 'participants'>): unknown[] {
  return (JSON.parse(participants) as unknown[][])
    .map((participant) => participant.slice(0, 3))
    .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

/** Removes or erases a user from the document, like the walkers do. Adds the keys of the removed involvements to `removed`. */
async function removeUser(
  scope: DocumentScope,
  userId: string,
  mode: RemovalMode,
  removed: Set<string>,
): Promise<void> {
  const removedUsers = { userIds: new Set([userId]), removedAt: Date.now() };
  const removal: DocumentRemoval = { table, scope, removedUsers, mode, clock: Date.now };
  const { values } = await table.query(InvolvementEntity, { ...scope, userId }, { limit: 1_000 });
  for (const value of values) {
    const kind = value.commentId === undefined ? 'reaction' : 'comment';
    const remove = kind === 'comment' ? removeCommentUser : removeReactor;
    const key = { ...scope, ...value, userId, kind } as const;
    const { PK, SK } = InvolvementEntity.key(key);
    removed.add(`${PK} ${SK}`);
    await retryOnConflict(async () => {
      const involvement = await table.get(InvolvementEntity, key);
      return involvement ? remove(removal, { ...key, ...involvement }) : 'done';
    });
  }
  if (mode === 'remove') return;
  await eraseReactions.erase(removal, undefined);
  await eraseThreads.erase(removal, undefined);
}

const userIds = ['u0', 'u1', 'u2', 'u3'];
const user = fc.constantFrom(...userIds).map((userId) => ({ userId, name: `Name of ${userId}` }));
const users = fc.uniqueArray(user, { maxLength: 2, selector: ({ userId }) => userId });
const annotationId = fc.constantFrom('a', 'b');
const commentIds = fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 });
const visibility = fc.constantFrom({ type: 'public' }, { type: 'restricted', userIds: ['u0', 'u1'] });
const context = fc.constantFrom({ access: { team: ['red'] } }, { access: {} });
const newComment = fc.record({ from: user, to: users, context }, { requiredKeys: ['from'] }).map(comment);
const newComments = fc.array(newComment, { minLength: 1, maxLength: 3 });

type Run = (scope: DocumentScope, removed: Set<string>) => Promise<unknown>;
interface Command {
  readonly run: Run;
  readonly [fc.toStringMethod]: () => string;
}

function command(name: string, args: unknown, run: Run): Command {
  return { run, [fc.toStringMethod]: () => `${name} ${JSON.stringify(args)}` };
}

/** A call of an endpoint, which can fail for a thread that does not exist. */
function call(path: string, args: fc.Arbitrary<object>): fc.Arbitrary<Command> {
  return args.map((data) =>
    command(path, data, async () => {
      const { status, body } = await customer.call(path, { ...nda, ...data });
      if (![200, 404, 409].includes(status)) throw new Error(JSON.stringify(body));
    }),
  );
}

const threads = '/v2/commentannotations';
const commands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record(
        { annotationId, commentData: newComments, assignedTo: user, visibility },
        { requiredKeys: ['annotationId', 'commentData'] },
      )
      .map(({ annotationId: id, ...more }) => thread(id, more))
      .map((added) =>
        command('add', added, () => customer.ok(`${threads}/add`, { ...nda, commentAnnotations: [added] })),
      ),
  },
  { weight: 2, arbitrary: call(`${threads}/comments/add`, fc.record({ annotationId, commentData: newComments })) },
  {
    weight: 3,
    arbitrary: call(
      `${threads}/comments/update`,
      fc.record({
        annotationId,
        commentIds,
        updatedData: fc.record(
          { from: user, to: users, context, commentText: fc.constant('new') },
          { requiredKeys: ['commentText'] },
        ),
      }),
    ),
  },
  { weight: 3, arbitrary: call(`${threads}/comments/delete`, fc.record({ annotationId, commentIds })) },
  {
    weight: 3,
    arbitrary: call(
      `${threads}/update`,
      fc.record({
        annotationIds: fc.tuple(annotationId),
        updatedData: fc.record(
          { assignedTo: user, visibility, context, status: fc.constant('RESOLVED') },
          { requiredKeys: ['status'] },
        ),
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: call(
      `${threads}/update`,
      fc.record({
        annotationIds: fc.tuple(annotationId),
        updateUsers: fc.tuple(user, user).map(([oldUser, newUser]) => [{ oldUser, newUser }]),
      }),
    ),
  },
  { weight: 1, arbitrary: call(`${threads}/delete`, fc.record({ annotationIds: fc.tuple(annotationId) })) },
  {
    weight: 4,
    arbitrary: call(
      '/v2/reactions/add',
      fc
        .record({
          annotationId: fc.constantFrom('r0', 'r1', 'r2'),
          from: user,
          on: fc.option(fc.record({ commentAnnotationId: annotationId, commentId: fc.integer({ min: 1, max: 3 }) })),
        })
        .map(({ on, ...reaction }) => ({ reactions: [{ ...reaction, icon: '+', ...on }] })),
    ),
  },
  {
    weight: 3,
    arbitrary: call('/v2/reactions/delete', fc.record({ annotationIds: fc.tuple(fc.constantFrom('r0', 'r1', 'r2')) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...userIds), fc.constantFrom<RemovalMode[]>('remove', 'erase'))
      .map(([userId, mode]) => command(mode, userId, (scope, removed) => removeUser(scope, userId, mode, removed))),
  },
);

testAsyncProperty(
  'Any commands leave exactly the items that a derivation from the remaining threads gives',
  [fc.array(fc.array(commands, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 20, size: 'max' })],
  async (steps) => {
    for (const item of await threadItems()) await deleteItem(engine, item);
    const scope = await storedDocumentScope(customer);
    const removed = new Set<string>();
    await addThreads(customer, [
      thread('a', { commentData: ['u0', 'u1', 'u0'].map((userId) => comment({ from: { userId } })) }),
      thread('b', {
        commentData: [comment({ from: { userId: 'u2' }, to: [{ userId: 'u3' }] })],
        assignedTo: { userId: 'u1' },
      }),
    ]);
    // The commands of a step run in parallel.
    for (const step of steps) await Promise.all(step.map(({ run }) => run(scope, removed)));
    await checkItems(scope, removed);
  },
  { numRuns: 40 },
);
