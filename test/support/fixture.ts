import { expect } from '@jest/globals';
import { ActivityEntity } from '../../lib/activities/entities.ts';
import { DeletedThreadEntity } from '../../lib/comments/deletedThreads.ts';
import { ThreadEntity } from '../../lib/comments/threads.ts';
import type { DocumentScope } from '../../lib/content/documentScope.ts';
import { InvolvementEntity } from '../../lib/content/involvements.ts';
import { RecordIdEntity } from '../../lib/content/recordIds.ts';
import { locationKey } from '../../lib/content/rules/location.ts';
import { NotificationEntity } from '../../lib/notifications/notifications.ts';
import { ReactionEntity } from '../../lib/reactions/reactions.ts';
import { RecordingEntity } from '../../lib/recordings/recordings.ts';
import { inParallel } from '../../lib/shared/inParallel.ts';
import type { Customer } from './customer.ts';
import type { Engine } from './engine.ts';
import { itemsOfTenant } from './items.ts';
import { storedDocumentScope } from './storedScope.ts';
import { times } from './times.ts';

/** Returns a generator of pseudorandom numbers in [0, 1). The same seed always gives the same numbers. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A document by the ids of the customer and by those of the table. */
export interface Place extends DocumentScope {
  readonly organizationId: string;
  readonly documentId: string;
}

interface Written {
  readonly document: Place;
  readonly id: string;
  /** The key of the location. */
  scope?: string | undefined;
}

interface WrittenComment {
  readonly commentId: number;
  /** The number of the call that added the comment. Later calls have larger numbers. */
  readonly call: number;
  from: string;
  mentions: string[];
}

interface WrittenThread extends Written {
  from: string;
  comments: WrittenComment[];
  /** All comments that were ever added. */
  readonly added: WrittenComment[];
  statusId: string;
  assignee: string | undefined;
  /**
   * Who can read the thread, in addition to its author: the organization's members or these users. Undefined if
   * everybody can.
   */
  readonly readers: 'members' | readonly string[] | undefined;
}

interface WrittenReaction extends Written {
  readonly users: string[];
  readonly on: { readonly thread: WrittenThread; readonly commentId: number } | undefined;
}

interface WrittenRecording extends Written {
  readonly from: string;
}

interface WrittenNotification extends Written {
  readonly actor: string;
  readonly notify: readonly string[];
  readonly all: boolean;
  readonly about: WrittenThread | undefined;
}

interface WrittenActivity extends Written {
  readonly target: string;
}

/** Sends the request of a change and checks the answer. The ledger contains the change already. */
export type PlannedChange = () => Promise<unknown>;

/** The document that a test deletes. It contains the longest thread. */
export const HANDBOOK = 'handbook';
export const documentIds = ['nda', 'offer', 'terms', 'plan', HANDBOOK];
/** A folder and the documents in it. */
export const folder = { folderId: 'contracts', documentIds: ['nda', 'offer'] };
/** A user whom many comments mention and whom no other record names. */
export const MONA = 'mona';
const authors = [
  ...times(35, (index) => `user-${String(index).padStart(2, '0')}`),
  '__proto__',
  'constructor',
  'zoë 🦉#1',
  'a%b~c',
];
export const userIds = [...authors, MONA];
/** The members of the organization: the first 33 users and Mona. */
const members = new Set([...userIds.slice(0, 33), MONA]);

const locations = [
  { id: 'page-1', locationName: 'Page 1' },
  { id: 2, locationName: 'Page 2' },
  { id: '__proto__' },
  { locationName: 'Appendix #A' },
];
/** The keys of the locations. */
export const locationKeys = locations.map((location) => locationKey(location));
const statuses: Record<string, string | object> = {
  OPEN: 'OPEN',
  IN_PROGRESS: { id: 'IN_PROGRESS', name: 'Doing', type: 'ongoing' },
  RESOLVED: 'RESOLVED',
  constructor: { id: 'constructor', name: 'Blocked' },
};
export const statusIds = Object.keys(statuses);

const START = Date.UTC(2026, 0, 5);
const HOUR = 3_600_000;
const PARALLEL = 4;

const mentionsMona = ({ mentions }: WrittenComment) => mentions.includes(MONA);
/** Returns an item of the table as a text. */
const line = (...fields: unknown[]) => JSON.stringify(fields);

/** By type, the attributes of an item that the ledger has. */
const attributes: Record<string, (item: Record<string, any>) => unknown[]> = {
  Thread: ({ annotationId, commentCount, locationKey }) => [annotationId, commentCount, locationKey],
  Comment: ({ annotationId, commentId, reactions = [] }) => [
    annotationId,
    commentId,
    ...reactions.map(({ id }: any) => id).sort(),
  ],
  RecordId: ({ SK, documentKey }) => [SK, documentKey],
  DeletedThread: ({ annotationId }) => [annotationId],
  Involvement: ({ documentKey, id, commentId, made }) => [documentKey, id, commentId, made],
  Reaction: ({ annotationId, locationKey, fromUsers }) => [
    annotationId,
    locationKey,
    ...fromUsers.map(({ from }: any) => from.userId).sort(),
  ],
  Recording: ({ annotationId, locationKey }) => [annotationId, locationKey],
  Notification: ({ id, locationKey }) => [id, locationKey],
  Activity: ({ id, targetEntityId }) => [id, targetEntityId],
};

/** Reads the table. Returns a customer's content as lines of a ledger, and counts of the items of other types. */
export async function tableLines(engine: Engine, { apiKey }: Customer) {
  const items = await itemsOfTenant(engine, apiKey);
  const others: Record<string, number> = {};
  const lines = items.flatMap((item) => {
    const fieldsOf = attributes[item._t];
    if (fieldsOf) return [line(item.PK, ...fieldsOf(item))];
    others[item._t] = (others[item._t] ?? 0) + 1;
    return [];
  });
  return { lines: lines.sort(), others };
}

/**
 * Creates random content of an organization through the API. Keeps a ledger of the content that must exist then. Each
 * method plans one change, adds it to the ledger at once, and returns a function that sends it.
 */
export class Fixture {
  /** All documents, first those of the organization `acme`. */
  readonly documents: readonly Place[];
  threads: WrittenThread[] = [];
  reactions: WrittenReaction[] = [];
  recordings: WrittenRecording[] = [];
  notifications: WrittenNotification[] = [];
  activities: WrittenActivity[] = [];
  /** The tombstones of deleted threads, as lines of the ledger. */
  readonly #tombstones: string[] = [];
  readonly #customer: Customer;
  readonly #random: () => number;
  #lastNumber = 0;
  #lastCall = 0;

  constructor(customer: Customer, documents: readonly Place[], seed: number) {
    this.#customer = customer;
    this.documents = documents;
    this.#random = seeded(seed);
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  /** Returns at most `count` different values. */
  pickSome<T>(values: readonly T[], count: number): T[] {
    const remaining = [...values];
    return times(
      Math.min(count, remaining.length),
      () => remaining.splice(Math.floor(this.#random() * remaining.length), 1)[0] as T,
    );
  }

  #id(kind: string): string {
    // Some ids begin with another id. Some contain the characters that separate parts of keys.
    return `${this.#pick(['', '', '', '#', '~', 'é '])}${kind}${(this.#lastNumber += 1)}`;
  }

  /** Returns a location and its key, or nothing. */
  #pickLocation(): { location?: object; scope?: string } {
    const index = Math.floor(this.#random() * locations.length * 2);
    return locations[index] ? { location: locations[index], scope: locationKeys[index]! } : {};
  }

  #send(path: string, { organizationId, documentId }: Place, data: object): Promise<any> {
    return this.#customer.untyped(path, { organizationId, documentId, ...data });
  }

  async #succeeds(path: string, document: Place, data: object): Promise<void> {
    const results = Object.entries<any>(await this.#send(path, document, data));
    expect(results.filter(([, { success }]) => !success)).toEqual([]);
  }

  /** Returns new comments. Each has the form of the ledger and the form of the request. */
  #comments(first: number, count: number, mayMention: boolean) {
    this.#lastCall += 1;
    return times(count, (index) => {
      const from = this.#pick(authors);
      const others = this.#chance(0.3) ? this.pickSome(authors, 1 + Math.floor(this.#random() * 3)) : [];
      const mentions = mayMention && this.#chance(0.1) ? [...others, MONA] : others;
      const comment: WrittenComment = { commentId: first + index, call: this.#lastCall, from, mentions };
      const sent = { commentText: `Text ${first + index}`, from: { userId: from, name: `Name of ${from}` } };
      return { comment, sent: { ...sent, ...mentioning(mentions) } };
    });
  }

  /** Returns who can read a new thread. Most threads are not private. */
  #pickReaders(): WrittenThread['readers'] {
    if (!this.#chance(0.12)) return undefined;
    return this.#chance(0.4) ? 'members' : [MONA, ...this.pickSome(authors, 2)];
  }

  addThreads(document: Place, count: number): PlannedChange {
    const sent = times(count, () => {
      const annotationId = this.#id('thread');
      const comments = this.#comments(1, 1 + Math.floor(this.#random() * 4), false);
      const { location, scope } = this.#pickLocation();
      const assignee = this.#chance(0.2) ? this.#pick(authors) : undefined;
      const readers = this.#pickReaders();
      const statusId = this.#chance(0.3) ? this.#pick(statusIds) : 'OPEN';
      const written = comments.map(({ comment }) => comment);
      const { from } = written[0]!;
      const added = [...written];
      this.threads.push({
        ...{ document, id: annotationId, scope, from, comments: written, added, statusId, assignee, readers },
      });
      return {
        annotationId,
        commentData: comments.map((comment) => comment.sent),
        location,
        createdAt: START + Math.floor(this.#random() * 60) * HOUR,
        status: statuses[statusId],
        assignedTo: assignee === undefined ? undefined : { userId: assignee },
        visibility: visibilityOf(readers),
      };
    });
    return async () => {
      const results = await this.#send('/v2/commentannotations/add', document, { commentAnnotations: sent });
      for (const { annotationId, commentData } of sent)
        expect(results[annotationId]).toMatchObject({
          success: true,
          annotationId,
          commentIds: commentData.map((_comment, index) => index + 1),
        });
    };
  }

  reply(thread: WrittenThread, count: number): PlannedChange {
    const comments = this.#comments(thread.added.length + 1, count, thread.document.organizationId === 'acme');
    const written = comments.map(({ comment }) => comment);
    thread.comments.push(...written);
    thread.added.push(...written);
    return async () => {
      const ids = await this.#send('/v2/commentannotations/comments/add', thread.document, {
        annotationId: thread.id,
        commentData: comments.map(({ sent }) => sent),
      });
      expect(ids).toEqual(written.map(({ commentId }) => commentId));
    };
  }

  /** Edits a comment that does not mention Mona. */
  edit(thread: WrittenThread): PlannedChange {
    const others = thread.comments.filter((each) => !mentionsMona(each));
    if (others.length === 0) return async () => undefined;
    const comment = this.#pick(others);
    comment.mentions = this.pickSome(authors, Math.floor(this.#random() * 4));
    const updatedData = { commentText: `Edited ${(this.#lastNumber += 1)}`, ...mentioning(comment.mentions) };
    const data = { annotationId: thread.id, commentIds: [comment.commentId], updatedData };
    return () => this.#succeeds('/v2/commentannotations/comments/update', thread.document, data);
  }

  /** Deletes a comment. The thread keeps at least one comment. */
  removeComment(thread: WrittenThread): PlannedChange {
    const comment = this.#pick(thread.comments);
    if (thread.comments.length === 1) return async () => undefined;
    const { commentId } = comment;
    thread.comments = thread.comments.filter((other) => other !== comment);
    this.reactions = this.reactions.filter(({ on }) => on?.thread !== thread || on.commentId !== commentId);
    const data = { annotationId: thread.id, commentIds: [commentId] };
    return () => this.#succeeds('/v2/commentannotations/comments/delete', thread.document, data);
  }

  #update(thread: WrittenThread, data: object): PlannedChange {
    const update = { annotationIds: [thread.id], ...data };
    return () => this.#succeeds('/v2/commentannotations/update', thread.document, update);
  }

  /** Changes the status, the assignee or the location of a thread. */
  change(thread: WrittenThread): PlannedChange {
    const { location, scope } = this.#pickLocation();
    const [field, statusId, userId] = [this.#random(), this.#pick(statusIds), this.#pick(authors)];
    const updatedData: object =
      field < 0.3
        ? { status: statuses[statusId] }
        : field < 0.6
          ? { assignedTo: { userId } }
          : { location, targetElement: { line: this.#lastNumber } };
    if ('status' in updatedData) thread.statusId = statusId;
    if ('assignedTo' in updatedData) thread.assignee = userId;
    if ('location' in updatedData && scope !== undefined) thread.scope = scope;
    return this.#update(thread, { updatedData, actionUser: { userId: MONA } });
  }

  /** Replaces one user by another in a thread. */
  replaceUser(thread: WrittenThread): PlannedChange {
    const [oldUser, newUser] = [this.#pick(thread.comments).from, this.#pick(authors)];
    const replaced = (userId: string) => (userId === oldUser ? newUser : userId);
    thread.from = replaced(thread.from);
    thread.assignee = thread.assignee && replaced(thread.assignee);
    for (const comment of thread.comments) {
      comment.from = replaced(comment.from);
      comment.mentions = comment.mentions.map(replaced);
    }
    return this.#update(thread, {
      updateUsers: [{ oldUser: { userId: oldUser }, newUser: { userId: newUser } }],
    });
  }

  /** Deletes threads of one document. */
  removeThreads(threads: readonly WrittenThread[]): PlannedChange {
    this.removeFromLedger(threads);
    const data = { annotationIds: threads.map(({ id }) => id) };
    return () => this.#succeeds('/v2/commentannotations/delete', threads[0]!.document, data);
  }

  /** Removes threads and their reactions from the ledger. Adds the tombstones of the threads. */
  removeFromLedger(threads: readonly WrittenThread[]): void {
    this.#tombstones.push(...threads.map(({ document, id }) => line(DeletedThreadEntity.partition(document), id)));
    this.threads = this.threads.filter((thread) => !threads.includes(thread));
    this.reactions = this.reactions.filter(({ on }) => !on || !threads.includes(on.thread));
  }

  react(document: Place, thread?: WrittenThread): PlannedChange {
    const annotationId = this.#id('reaction');
    const users = this.pickSome(authors, 1 + Math.floor(this.#random() * 3));
    const on = thread && { thread, commentId: this.#pick(thread.comments).commentId };
    const { location, scope } = this.#pickLocation();
    this.reactions.push({ document, id: annotationId, users, on, scope });
    const target = on && { commentAnnotationId: on.thread.id, commentId: on.commentId };
    const reactions = users.map((userId) => ({ annotationId, icon: '👍', from: { userId }, ...target, location }));
    return () => this.#succeeds('/v2/reactions/add', document, { reactions });
  }

  removeReaction(reaction: WrittenReaction): PlannedChange {
    this.reactions = this.reactions.filter((other) => other !== reaction);
    return () => this.#succeeds('/v2/reactions/delete', reaction.document, { annotationIds: [reaction.id] });
  }

  record(document: Place, count: number): PlannedChange {
    const recordings = times(count, () => {
      const [id, from, { location, scope }] = [this.#id('recording'), this.#pick(authors), this.#pickLocation()];
      this.recordings.push({ document, id, from, scope });
      return { annotationId: id, recordingType: 'screen', from: { userId: from }, location };
    });
    return () => this.#succeeds('/v2/recordings/add', document, { recordings });
  }

  notify(document: Place): PlannedChange {
    const [actor, all] = [this.#pick(authors), this.#chance(0.2)];
    const id = `ntf-${(this.#lastNumber += 1)}`;
    const notify = this.pickSome(authors, 1 + Math.floor(this.#random() * 3));
    const about = this.#chance(0.5) ? this.#pick(this.threadsOf(document)) : undefined;
    const { location, scope } = this.#pickLocation();
    this.notifications.push({ document, id, actor, notify, all, about, scope });
    return () =>
      this.#send('/v2/notifications/add', document, {
        notificationId: id,
        actionUser: { userId: actor },
        notifyAll: all,
        notifyUsers: notify.map((userId) => ({ userId, email: `${userId.length}@example.com` })),
        location,
        displayHeadlineMessageTemplate: '{actionUser} did it',
        displayBodyMessage: 'Done',
        ...(about && { notificationSource: 'comment', notificationSourceData: { annotationId: about.id } }),
      });
  }

  removeNotification(notification: WrittenNotification): PlannedChange {
    this.notifications = this.notifications.filter((other) => other !== notification);
    const { organizationId } = notification.document;
    return () => this.#customer.ok('/v2/notifications/delete', { organizationId, notificationIds: [notification.id] });
  }

  log(document: Place, count: number): PlannedChange {
    const activities = times(count, () => {
      const [id, target] = [this.#id('activity'), `target-${Math.floor(this.#random() * 3)}`];
      this.activities.push({ document, id, target });
      const actionUser = { userId: this.#pick(authors) };
      return { id, featureType: 'custom', actionType: 'document.sign', actionUser, targetEntityId: target };
    });
    return () => this.#send('/v2/activities/add', document, { activities });
  }

  removeActivity(activity: WrittenActivity): PlannedChange {
    this.activities = this.activities.filter((other) => other !== activity);
    const { organizationId } = activity.document;
    return () => this.#customer.ok('/v2/activities/delete', { organizationId, activityIds: [activity.id] });
  }

  /**
   * Plans changes that run while a test reads a listing. Each changes another thread. Deletes only records for which
   * `isVolatile` returns true.
   */
  planConcurrentChanges(document: Place, isVolatile: (id: string) => boolean): PlannedChange[] {
    const own = this.threadsOf(document).filter(({ comments }) => comments.length < 100);
    const staying = own.filter(({ id }) => !isVolatile(id));
    const [changed, edited, replied, loved] = this.pickSome(staying, 4);
    const pickVolatile = <T extends Written>(records: readonly T[], count = 1) =>
      this.pickSome(
        records.filter((each) => isVolatile(each.id) && each.document === document),
        count,
      );
    const [removed, shortened] = pickVolatile(own, 2);
    return [
      this.addThreads(document, 2),
      changed && this.change(changed),
      edited && this.edit(edited),
      replied && this.reply(replied, 2),
      loved && this.react(document, loved),
      shortened && this.removeComment(shortened),
      removed && this.removeThreads([removed]),
      ...pickVolatile(this.notifications).map((notification) => this.removeNotification(notification)),
      ...pickVolatile(this.activities).map((activity) => this.removeActivity(activity)),
      this.record(document, 1),
      this.notify(document),
      this.log(document, 1),
    ].filter((change) => change !== undefined);
  }

  threadsOf(document: Place): WrittenThread[] {
    return this.threads.filter((thread) => thread.document === document);
  }

  /** Returns whether a user can read a thread. */
  canRead(userId: string, { from, readers }: Pick<WrittenThread, 'from' | 'readers'>): boolean {
    if (readers === undefined || userId === from) return true;
    return readers === 'members' ? members.has(userId) : readers.includes(userId);
  }

  /** Returns the ids of a user's data in the organization `acme`, sorted. */
  dataOf(userId: string) {
    const idsOf = <T extends Written>(records: readonly T[], isOwn: (record: T) => boolean) =>
      inAcme(records)
        .filter(isOwn)
        .map(({ id }) => id)
        .sort();
    return {
      comments: inAcme(this.threads)
        .flatMap((thread) =>
          thread.comments.flatMap((comment) => {
            const made = involvedIn(thread, comment).get(userId);
            return made === true || (made === false && this.canRead(userId, thread))
              ? [`${thread.document.documentId} ${thread.id}/${comment.commentId}`]
              : [];
          }),
        )
        .sort(),
      reactions: idsOf(this.reactions, ({ users }) => users.includes(userId)),
      recordings: idsOf(this.recordings, ({ from }) => from === userId),
      notifications: idsOf(
        this.notifications,
        ({ actor, notify, about }) =>
          actor === userId || (notify.includes(userId) && (!about || this.canRead(userId, about))),
      ),
    };
  }

  /** Returns the ledger as sorted lines. Each line is an item that the table must contain. */
  ledgerLines(): string[] {
    const named = (kind: string, { document, id }: Written, within = document.documentId) => {
      const { PK, SK } = RecordIdEntity.key({ ...document, kind, id, within });
      return line(PK, SK, document.documentKey);
    };
    const involves = (userId: string, made: boolean, { document, id }: Written, commentId?: number) =>
      line(InvolvementEntity.partition({ ...document, userId }), document.documentKey, id, commentId, made);
    return [
      ...this.threads.flatMap((thread) => {
        const { document, id, comments, scope } = thread;
        const partition = ThreadEntity.partition(document);
        return [
          line(partition, id, comments.length, scope),
          named('thread', thread),
          ...comments.flatMap((comment) => {
            const reactions = this.reactions.filter(
              ({ on }) => on?.thread === thread && on.commentId === comment.commentId,
            );
            return [
              line(partition, id, comment.commentId, ...reactions.map((reaction) => reaction.id).sort()),
              ...[...involvedIn(thread, comment)].map(([userId, made]) =>
                involves(userId, made, thread, comment.commentId),
              ),
            ];
          }),
        ];
      }),
      ...this.reactions.flatMap((reaction) => [
        line(ReactionEntity.partition(reaction.document), reaction.id, reaction.scope, ...reaction.users.toSorted()),
        named('reaction', reaction),
        ...reaction.users.map((userId) => involves(userId, true, reaction)),
      ]),
      ...this.recordings.flatMap((recording) => [
        line(RecordingEntity.partition(recording.document), recording.id, recording.scope),
        named('recording', recording),
        involves(recording.from, true, recording),
      ]),
      ...this.notifications.flatMap((notification) => {
        const { document, id, actor, notify, all, scope } = notification;
        return [
          line(NotificationEntity.partition(document), id, scope),
          named('notification', notification, ''),
          ...[...new Set([actor, ...notify, ...(all ? ['\u0000everybody'] : [])])].map((userId) =>
            involves(userId, userId === actor, notification),
          ),
        ];
      }),
      ...this.activities.flatMap((activity) => [
        line(ActivityEntity.partition(activity.document), activity.id, activity.target),
        named('activity', activity, ''),
      ]),
      ...this.#tombstones,
    ].sort();
  }
}

/** Returns the records of the organization `acme`. */
export const inAcme = <T extends Written>(records: readonly T[]) =>
  records.filter(({ document }) => document.organizationId === 'acme');

/** Returns the fields of a comment that mention these users, in every way that the API supports. */
function mentioning(mentions: readonly string[]) {
  const tagged = mentions
    .slice(0, 2)
    .map((userId, index) =>
      index === 0 ? { userId, text: `@${userId}` } : { text: '@', contact: { userId, name: 'x' } },
    );
  return { taggedUserContacts: tagged, to: mentions.slice(2).map((userId) => ({ userId })) };
}

function visibilityOf(readers: WrittenThread['readers']): object | undefined {
  if (readers === undefined) return undefined;
  return readers === 'members' ? { type: 'organizationPrivate' } : { type: 'restricted', userIds: readers };
}

/**
 * Returns the users whom a comment involves. The value says whether the user wrote the comment. The first comment also
 * involves the thread's assignee.
 */
function involvedIn({ comments, assignee }: WrittenThread, comment: WrittenComment): Map<string, boolean> {
  const assigned = assignee !== undefined && comments[0] === comment ? [[assignee, false] as const] : [];
  return new Map([...assigned, ...comment.mentions.map((userId) => [userId, false] as const), [comment.from, true]]);
}

/** Sends changes, at most four at the same time. */
export async function runChanges(changes: readonly PlannedChange[]): Promise<void> {
  await inParallel(changes, PARALLEL, (change) => change());
}

/**
 * Creates an organization with 40 users and 5 documents. Also creates a second organization with a document of the
 * same id. Returns all documents.
 */
export async function buildOrganization(customer: Customer): Promise<Place[]> {
  await customer.addFolders([folder.folderId]);
  await customer.addDocuments(folder.documentIds, { folderId: folder.folderId });
  await customer.addDocuments(documentIds.filter((id) => !folder.documentIds.includes(id)));
  await customer.addDocuments(['nda'], { organizationId: 'labs' });
  await customer.addUsers([...members]);
  await customer.ok('/v2/workspace/activityconfig/update', {
    activityServiceConfig: { isEnabled: true, immutable: false },
  });
  const all = [
    ...documentIds.map((documentId) => ({ organizationId: 'acme', documentId })),
    { organizationId: 'labs', documentId: 'nda' },
  ];
  return Promise.all(all.map(async (ids) => ({ ...ids, ...(await storedDocumentScope(customer, ids)) })));
}

/**
 * Creates 300 threads with 2,000 comments in all, one more thread with 1,000 comments, and records of all other kinds.
 */
export async function buildContent(fixture: Fixture): Promise<void> {
  const all = fixture.documents;
  const some = (count: number, change: (thread: WrittenThread, index: number) => PlannedChange) =>
    runChanges(fixture.pickSome(fixture.threads, count).map(change));
  await runChanges(
    all.flatMap((document) =>
      times(document.organizationId === 'acme' ? 4 : 1, () => fixture.addThreads(document, 16)),
    ),
  );
  for (let round = 0; round < 2; round++) await some(160, (thread, index) => fixture.reply(thread, 1 + (index % 8)));
  await some(60, (thread) => fixture.edit(thread));
  await some(60, (thread) => fixture.change(thread));
  await runChanges(
    all.flatMap((document) => [
      ...fixture.pickSome(fixture.threadsOf(document), 25).map((thread) => fixture.react(document, thread)),
      ...times(2, () => fixture.react(document)),
    ]),
  );
  await some(25, (thread) => fixture.removeComment(thread));
  await some(15, (thread) => fixture.replaceUser(thread));
  await runChanges(fixture.pickSome(fixture.reactions, 10).map((reaction) => fixture.removeReaction(reaction)));
  await runChanges(all.map((document) => fixture.removeThreads(fixture.pickSome(fixture.threadsOf(document), 3))));
  await runChanges(
    all.flatMap((document) => [
      fixture.record(document, 12),
      fixture.log(document, 40),
      ...times(40, () => fixture.notify(document)),
    ]),
  );
  const [longest] = fixture.threadsOf(all.find(({ documentId }) => documentId === HANDBOOK)!) as [WrittenThread];
  for (let remaining = 1_000 - longest.comments.length; remaining > 0; remaining -= 9)
    await fixture.reply(longest, Math.min(remaining, 9))();
}
