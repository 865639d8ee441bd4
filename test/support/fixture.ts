import { expect } from '@jest/globals';
import { locationKey } from '../../lib/content/rules/location.ts';
import { inParallel } from '../../lib/shared/inParallel.ts';
import type { Customer } from './customer.ts';
import type { Engine } from './engine.ts';
import { itemsOfTenant } from './items.ts';
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

/** The customer's ids of the organization and the document in which a record is. */
export interface DocumentIds {
  readonly organizationId: string;
  readonly documentId: string;
}

interface WrittenComment {
  readonly commentId: number;
  /** The number of the call that added the comment. Later calls have larger numbers. */
  readonly call: number;
  from: string;
  mentions: string[];
}

interface WrittenThread {
  readonly document: DocumentIds;
  readonly annotationId: string;
  from: string;
  comments: WrittenComment[];
  /** All comments that were ever added. */
  readonly added: WrittenComment[];
  lastCommentId: number;
  statusId: string;
  assignee: string | undefined;
  scope: string | undefined;
  /**
   * Who can read the thread, in addition to its author: the organization's members or these users. Undefined if
   * everybody can.
   */
  readonly readers: 'members' | readonly string[] | undefined;
}

interface WrittenReaction {
  readonly document: DocumentIds;
  readonly annotationId: string;
  readonly users: string[];
  readonly on: { readonly thread: WrittenThread; readonly commentId: number } | undefined;
  readonly scope: string | undefined;
}

interface WrittenRecording {
  readonly document: DocumentIds;
  readonly annotationId: string;
  readonly from: string;
  readonly scope: string | undefined;
}

interface WrittenNotification {
  readonly document: DocumentIds;
  readonly id: string;
  readonly actor: string;
  readonly notify: readonly string[];
  readonly all: boolean;
  readonly about: WrittenThread | undefined;
  readonly scope: string | undefined;
}

interface WrittenActivity {
  readonly document: DocumentIds;
  readonly id: string;
  readonly target: string;
}

/** Sends the request of a change and checks the answer. The ledger contains the change already. */
export type PlannedChange = () => Promise<unknown>;

/** The document that a test deletes. It contains the longest thread. */
export const HANDBOOK = 'handbook';
export const documentIds = ['nda', 'offer', 'terms', 'plan', HANDBOOK];
/** A folder and the documents in it. */
export const folder = { folderId: 'contracts', documentIds: ['nda', 'offer'] };
/** A user whom 250 comments mention and whom no other record names. */
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
const texts = [
  'Two years is too long.',
  'Shall we say “engine” here?',
  'Agreed, thanks!',
  'Der Satz fehlt noch — bitte prüfen.',
  'これは正しいですか。',
  'See the note on page 4.',
];

const START = Date.UTC(2026, 0, 5);
const HOUR = 3_600_000;
const PARALLEL = 4;

/** Returns the name by which lines of the ledger refer to a document. */
const nameOf = ({ organizationId, documentId }: DocumentIds) => `${organizationId}/${documentId}`;
const countUp = (counts: Map<string, number>, key: string, by = 1) => void counts.set(key, (counts.get(key) ?? 0) + by);

/**
 * Creates random content of an organization through the API. Keeps a ledger of the content that must exist then. Each
 * method plans one change, adds it to the ledger at once, and returns a function that sends it.
 */
export class Fixture {
  threads: WrittenThread[] = [];
  reactions: WrittenReaction[] = [];
  recordings: WrittenRecording[] = [];
  notifications: WrittenNotification[] = [];
  activities: WrittenActivity[] = [];
  /** How many events of each type were requested. */
  readonly events = new Map<string, number>();
  /** The requested activities, as lines of the ledger. */
  readonly logged: string[] = [];
  /** The tombstones of deleted threads, as lines of the ledger. */
  readonly tombstones: string[] = [];
  readonly #customer: Customer;
  readonly #random: () => number;
  #lastNumber = 0;
  #lastCall = 0;
  #remainingMentions = 250;

  constructor(customer: Customer, seed: number) {
    this.#customer = customer;
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

  #pickLocation(): { location: object; scope: string } | undefined {
    const index = Math.floor(this.#random() * locations.length * 2);
    return locations[index] && { location: locations[index], scope: locationKeys[index] as string };
  }

  /** Returns random trigger flags for a change. Adds the event and the activity that they request to the ledger. */
  #triggers(document: DocumentIds, event: string, target: string, requested = [this.#chance(0.15), this.#chance(0.1)]) {
    const [triggerNotification, triggerActivities] = requested as [boolean, boolean];
    if (triggerNotification) countUp(this.events, event);
    if (triggerActivities) this.logged.push(`activity ${nameOf(document)} ${event} ${target}`);
    return { triggerNotification, triggerActivities };
  }

  #send(path: string, document: DocumentIds, data: object): Promise<any> {
    return this.#customer.untyped(path, { ...document, ...data });
  }

  async #succeeds(path: string, document: DocumentIds, data: object): Promise<void> {
    const results = Object.entries<any>(await this.#send(path, document, data));
    expect(results.filter(([, { success }]) => !success)).toEqual([]);
  }

  /** Returns new comments. Each has the form of the ledger and the form of the request. */
  #comments(first: number, count: number, mayMention: boolean) {
    this.#lastCall += 1;
    return times(count, (index) => {
      const from = this.#pick(authors);
      const others = this.#chance(0.3) ? this.pickSome(authors, 1 + Math.floor(this.#random() * 3)) : [];
      const mentions = mayMention && this.#remainingMentions > 0 && this.#chance(0.5) ? [...others, MONA] : others;
      if (mentions.length > others.length) this.#remainingMentions -= 1;
      const comment: WrittenComment = { commentId: first + index, call: this.#lastCall, from, mentions };
      return {
        comment,
        sent: {
          commentText: `${this.#pick(texts)} ${first + index}`,
          from: { userId: from, name: `Name of ${from}` },
          ...this.#mentioning(mentions),
        },
      };
    });
  }

  /** Returns the fields of a comment that mention these users, in every way that the API supports. */
  #mentioning(mentions: readonly string[]) {
    const tagged = mentions
      .slice(0, 2)
      .map((userId, index) =>
        index === 0 ? { userId, text: `@${userId}` } : { text: '@', contact: { userId, name: 'x' } },
      );
    return { taggedUserContacts: tagged, to: mentions.slice(2).map((userId) => ({ userId })) };
  }

  /** Returns who can read a new thread. Most threads are not private. */
  #pickReaders(): WrittenThread['readers'] {
    if (!this.#chance(0.12)) return undefined;
    return this.#chance(0.4) ? 'members' : [MONA, ...this.pickSome(authors, 2)];
  }

  addThreads(document: DocumentIds, count: number): PlannedChange {
    const created = times(count, () => {
      const annotationId = this.#id('thread');
      const comments = this.#comments(1, 1 + Math.floor(this.#random() * 4), false);
      const pickedLocation = this.#pickLocation();
      const assignee = this.#chance(0.2) ? this.#pick(authors) : undefined;
      const readers = this.#pickReaders();
      const thread: WrittenThread = {
        document,
        annotationId,
        from: (comments[0] as { comment: WrittenComment }).comment.from,
        comments: comments.map(({ comment }) => comment),
        added: comments.map(({ comment }) => comment),
        lastCommentId: comments.length,
        statusId: this.#chance(0.3) ? this.#pick(statusIds) : 'OPEN',
        assignee,
        scope: pickedLocation?.scope,
        readers,
      };
      this.threads.push(thread);
      // A new thread has one event and one activity, even if several of its comments ask for them.
      const triggers = this.#triggers(document, 'comment_annotation.add', `${annotationId}/1`);
      const commentData = comments.map(({ sent }, index) => ({
        ...sent,
        ...(index >= comments.length - 2 ? triggers : {}),
      }));
      return {
        thread,
        sent: {
          annotationId,
          commentData,
          location: pickedLocation?.location,
          createdAt: START + Math.floor(this.#random() * 60) * HOUR,
          status: statuses[thread.statusId],
          assignedTo: assignee === undefined ? undefined : { userId: assignee },
          visibility: visibilityOf(readers),
        },
      };
    });
    return async () => {
      const results = await this.#send('/v2/commentannotations/add', document, {
        commentAnnotations: created.map(({ sent }) => sent),
      });
      for (const {
        thread: { annotationId },
        sent: { commentData },
      } of created) {
        expect(results[annotationId]).toMatchObject({
          success: true,
          annotationId,
          commentIds: commentData.map((_comment, index) => index + 1),
        });
      }
    };
  }

  reply(thread: WrittenThread, count: number): PlannedChange {
    const comments = this.#comments(thread.lastCommentId + 1, count, thread.document.organizationId === 'acme');
    thread.comments.push(...comments.map(({ comment }) => comment));
    thread.added.push(...comments.map(({ comment }) => comment));
    thread.lastCommentId += count;
    const commentData = comments.map(({ comment, sent }) => ({
      ...sent,
      ...this.#triggers(thread.document, 'comment.add', `${thread.annotationId}/${comment.commentId}`),
    }));
    return async () => {
      const ids = await this.#send('/v2/commentannotations/comments/add', thread.document, {
        annotationId: thread.annotationId,
        commentData,
      });
      expect(ids).toEqual(comments.map(({ comment: { commentId } }) => commentId));
    };
  }

  /** Edits a comment that does not mention Mona. */
  edit(thread: WrittenThread): PlannedChange {
    const candidates = thread.comments.filter(({ mentions }) => !mentions.includes(MONA));
    const comment = this.#pick(candidates);
    if (candidates.length === 0) return async () => undefined;
    comment.mentions = this.pickSome(authors, Math.floor(this.#random() * 4));
    const updatedData = {
      commentText: `Edited: ${this.#pick(texts)} ${(this.#lastNumber += 1)}`,
      ...this.#mentioning(comment.mentions),
    };
    const data = {
      annotationId: thread.annotationId,
      commentIds: [comment.commentId],
      updatedData,
      ...this.#triggers(thread.document, 'comment.update', `${thread.annotationId}/${comment.commentId}`),
    };
    return () => this.#succeeds('/v2/commentannotations/comments/update', thread.document, data);
  }

  /** Deletes a comment that does not mention Mona. The thread keeps at least one comment. */
  removeComment(thread: WrittenThread): PlannedChange {
    const candidates = thread.comments.filter(({ mentions }) => !mentions.includes(MONA));
    const comment = this.#pick(candidates);
    if (candidates.length === 0 || thread.comments.length === 1) return async () => undefined;
    const { commentId } = comment;
    thread.comments = thread.comments.filter((other) => other !== comment);
    this.reactions = this.reactions.filter(({ on }) => on?.thread !== thread || on.commentId !== commentId);
    const data = {
      annotationId: thread.annotationId,
      commentIds: [commentId],
      ...this.#triggers(thread.document, 'comment.delete', `${thread.annotationId}/${commentId}`),
    };
    return () => this.#succeeds('/v2/commentannotations/comments/delete', thread.document, data);
  }

  /** Changes the status, the assignee or the location of a thread. */
  change(thread: WrittenThread): PlannedChange {
    const [field, statusId, assignee, pickedLocation] = [
      this.#pick(['status', 'assignedTo', 'location']),
      this.#pick(statusIds),
      this.#pick(authors),
      this.#pickLocation(),
    ];
    const differs =
      field === 'status' ? statusId !== thread.statusId : field === 'assignedTo' && assignee !== thread.assignee;
    const flags = [differs && this.#chance(0.3), differs && this.#chance(0.2)];
    const triggers = this.#triggers(
      thread.document,
      field === 'status' ? 'comment_annotation.status_change' : 'comment_annotation.assign',
      `${thread.annotationId}/`,
      flags,
    );
    if (field === 'status') thread.statusId = statusId;
    if (field === 'assignedTo') thread.assignee = assignee;
    if (field === 'location' && pickedLocation) thread.scope = pickedLocation.scope;
    const updatedData =
      field === 'status'
        ? { status: statuses[statusId] }
        : field === 'assignedTo'
          ? { assignedTo: { userId: assignee } }
          : { location: pickedLocation?.location, targetElement: { line: this.#lastNumber } };
    return () =>
      this.#succeeds('/v2/commentannotations/update', thread.document, {
        annotationIds: [thread.annotationId],
        updatedData,
        ...triggers,
        actionUser: { userId: MONA },
      });
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
    return () =>
      this.#succeeds('/v2/commentannotations/update', thread.document, {
        annotationIds: [thread.annotationId],
        updateUsers: [{ oldUser: { userId: oldUser }, newUser: { userId: newUser } }],
      });
  }

  /** Deletes threads of one document. */
  removeThreads(threads: readonly WrittenThread[]): PlannedChange {
    this.removeFromLedger(threads);
    const document = (threads[0] as WrittenThread).document;
    const triggers = this.#triggers(document, 'comment.delete', '', [this.#chance(0.5), false]);
    if (triggers.triggerNotification) countUp(this.events, 'comment.delete', threads.length - 1);
    return () =>
      this.#succeeds('/v2/commentannotations/delete', document, {
        annotationIds: threads.map(({ annotationId }) => annotationId),
        ...triggers,
      });
  }

  /** Removes threads and their reactions from the ledger. Adds the tombstones of the threads. */
  removeFromLedger(threads: readonly WrittenThread[]): void {
    this.tombstones.push(
      ...threads.map(({ document, annotationId }) => `tombstone ${nameOf(document)} ${annotationId}`),
    );
    this.threads = this.threads.filter((thread) => !threads.includes(thread));
    this.reactions = this.reactions.filter(({ on }) => !on || !threads.includes(on.thread));
  }

  react(document: DocumentIds, thread: WrittenThread | undefined): PlannedChange {
    const annotationId = this.#id('reaction');
    const users = this.pickSome(authors, 1 + Math.floor(this.#random() * 3));
    const on = thread && { thread, commentId: this.#pick(thread.comments).commentId };
    const pickedLocation = this.#chance(0.6) ? this.#pickLocation() : undefined;
    this.reactions.push({ document, annotationId, users, on, scope: pickedLocation?.scope });
    if (on) countUp(this.events, 'comment.reaction_add', users.length);
    const target = on && { commentAnnotationId: on.thread.annotationId, commentId: on.commentId };
    return () =>
      this.#succeeds('/v2/reactions/add', document, {
        reactions: users.map((userId) => ({
          annotationId,
          icon: '👍',
          from: { userId },
          ...target,
          location: pickedLocation?.location,
        })),
      });
  }

  removeReaction(reaction: WrittenReaction): PlannedChange {
    this.reactions = this.reactions.filter((other) => other !== reaction);
    if (reaction.on) countUp(this.events, 'comment.reaction_delete');
    return () => this.#succeeds('/v2/reactions/delete', reaction.document, { annotationIds: [reaction.annotationId] });
  }

  record(document: DocumentIds, count: number): PlannedChange {
    const recordings = times(count, () => {
      const [annotationId, from, pickedLocation] = [this.#id('recording'), this.#pick(authors), this.#pickLocation()];
      this.recordings.push({ document, annotationId, from, scope: pickedLocation?.scope });
      return {
        annotationId,
        recordingType: 'screen',
        from: { userId: from },
        location: pickedLocation?.location,
        recordedTime: { duration: 61_000, display: '1:01' },
      };
    });
    countUp(this.events, 'recorder.done', count);
    return () => this.#succeeds('/v2/recordings/add', document, { recordings });
  }

  notify(document: DocumentIds): PlannedChange {
    const [id, actor, all, notify] = [
      `ntf-${(this.#lastNumber += 1)}`,
      this.#pick(authors),
      this.#chance(0.2),
      this.pickSome(authors, 1 + Math.floor(this.#random() * 3)),
    ];
    const [about, pickedLocation] = [
      this.#chance(0.5) ? this.#pick(this.threadsOf(document)) : undefined,
      this.#pickLocation(),
    ];
    this.notifications.push({ document, id, actor, notify, all, about, scope: pickedLocation?.scope });
    return () =>
      this.#send('/v2/notifications/add', document, {
        notificationId: id,
        actionUser: { userId: actor },
        notifyAll: all,
        notifyUsers: notify.map((userId) => ({ userId, email: `${userId.length}@example.com` })),
        location: pickedLocation?.location,
        displayHeadlineMessageTemplate: '{actionUser} did it',
        displayBodyMessage: this.#pick(texts),
        ...(about && { notificationSource: 'comment', notificationSourceData: { annotationId: about.annotationId } }),
      });
  }

  removeNotification(notification: WrittenNotification): PlannedChange {
    this.notifications = this.notifications.filter((other) => other !== notification);
    const { organizationId } = notification.document;
    return () => this.#customer.ok('/v2/notifications/delete', { organizationId, notificationIds: [notification.id] });
  }

  log(document: DocumentIds, count: number): PlannedChange {
    const activities = times(count, () => {
      const [id, target] = [this.#id('activity'), `target-${Math.floor(this.#random() * 3)}`];
      this.activities.push({ document, id, target });
      return {
        id,
        featureType: 'custom',
        actionType: 'document.sign',
        actionUser: { userId: this.#pick(authors) },
        targetEntityId: target,
        changes: { status: { from: 'open', to: 'signed' } },
      };
    });
    return () => this.#send('/v2/activities/add', document, { activities });
  }

  removeActivity(activity: WrittenActivity): PlannedChange {
    this.activities = this.activities.filter((other) => other !== activity);
    return () =>
      this.#customer.ok('/v2/activities/delete', {
        organizationId: activity.document.organizationId,
        activityIds: [activity.id],
      });
  }

  /**
   * Plans changes that run while a test reads a listing. Each changes another thread. Deletes only records for which
   * `isVolatile` returns true.
   */
  planConcurrentChanges(document: DocumentIds, isVolatile: (id: string) => boolean): PlannedChange[] {
    const own = this.threadsOf(document).filter(({ comments }) => comments.length < 100);
    const [volatile, staying] = [
      own.filter(({ annotationId }) => isVolatile(annotationId)),
      own.filter(({ annotationId }) => !isVolatile(annotationId)),
    ];
    const [changed, edited, replied, loved] = this.pickSome(staying, 4);
    const [removed, shortened] = this.pickSome(volatile, 2);
    const pickVolatile = <T extends { readonly id: string; readonly document: DocumentIds }>(records: readonly T[]) =>
      this.pickSome(
        records.filter(({ id, document: { documentId } }) => isVolatile(id) && documentId === document.documentId),
        1,
      );
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

  threadsOf({ organizationId, documentId }: DocumentIds): WrittenThread[] {
    return this.threads.filter(
      ({ document }) => document.organizationId === organizationId && document.documentId === documentId,
    );
  }

  /** Returns whether a user can read a thread. */
  canRead(userId: string, { from, readers }: Pick<WrittenThread, 'from' | 'readers'>): boolean {
    if (readers === undefined || userId === from) return true;
    return readers === 'members' ? members.has(userId) : readers.includes(userId);
  }

  /** Returns the ids of a user's data, sorted. */
  dataOf(
    organizationId: string,
    userId: string,
  ): { comments: string[]; reactions: string[]; recordings: string[]; notifications: string[] } {
    const own = <T extends { document: DocumentIds }>(records: readonly T[]) =>
      records.filter(({ document }) => document.organizationId === organizationId);
    return {
      comments: own(this.threads)
        .flatMap((thread) =>
          thread.comments.flatMap((comment) => {
            const made = involvedIn(thread, comment).get(userId);
            return made === true || (made === false && this.canRead(userId, thread))
              ? [`${thread.document.documentId} ${thread.annotationId}/${comment.commentId}`]
              : [];
          }),
        )
        .sort(),
      reactions: own(this.reactions)
        .filter(({ users }) => users.includes(userId))
        .map(({ annotationId }) => annotationId)
        .sort(),
      recordings: own(this.recordings)
        .filter(({ from }) => from === userId)
        .map(({ annotationId }) => annotationId)
        .sort(),
      notifications: own(this.notifications)
        .filter(
          ({ actor, notify, about }) =>
            actor === userId || (notify.includes(userId) && (!about || this.canRead(userId, about))),
        )
        .map(({ id }) => id)
        .sort(),
    };
  }

  /** Returns the ledger as sorted lines. Each line is an item that the table must contain. */
  ledgerLines(): string[] {
    const named = (kind: string, document: DocumentIds, id: string, within: string) =>
      `id ${nameOf(document)} ${kind} ${id} in ${within}`;
    const involvement = (userId: string, made: boolean, kind: string, document: DocumentIds, id: string) =>
      `involvement ${userId} ${made ? 'made' : 'in'} ${kind} ${nameOf(document)} ${id}`;
    return [
      ...this.threads.flatMap((thread) => {
        const { document, annotationId, comments, scope = '' } = thread;
        return [
          `thread ${nameOf(document)} ${annotationId} with ${comments.length} at ${scope}`,
          named('thread', document, annotationId, document.documentId),
          ...comments.flatMap((comment) => [
            `comment ${nameOf(document)} ${annotationId}/${comment.commentId} with ${this.reactions
              .filter(({ on }) => on?.thread === thread && on.commentId === comment.commentId)
              .map((thread) => thread.annotationId)
              .sort()
              .join()}`,
            ...[...involvedIn(thread, comment)].map(([userId, made]) =>
              involvement(userId, made, 'comment', document, `${annotationId}/${comment.commentId}`),
            ),
          ]),
        ];
      }),
      ...this.reactions.flatMap(({ document, annotationId, users, scope = '' }) => [
        `reaction ${nameOf(document)} ${annotationId} by ${users.toSorted().join()} at ${scope}`,
        named('reaction', document, annotationId, document.documentId),
        ...users.map((userId) => involvement(userId, true, 'reaction', document, annotationId)),
      ]),
      ...this.recordings.flatMap(({ document, annotationId, from, scope = '' }) => [
        `recording ${nameOf(document)} ${annotationId} at ${scope}`,
        named('recording', document, annotationId, document.documentId),
        involvement(from, true, 'recording', document, annotationId),
      ]),
      ...this.notifications.flatMap(({ document, id, actor, notify, all, scope = '' }) => [
        `notification ${nameOf(document)} ${id} at ${scope}`,
        named('notification', document, id, ''),
        ...new Set(
          [actor, ...notify, ...(all ? ['\u0000everybody'] : [])].map((userId) =>
            involvement(userId, userId === actor, 'notification', document, id),
          ),
        ),
      ]),
      ...this.activities.flatMap(({ document, id, target }) => [
        `activity ${nameOf(document)} document.sign ${target}/`,
        named('activity', document, id, ''),
      ]),
      ...this.tombstones,
      ...this.logged,
    ].sort();
  }
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
 * same id.
 */
export async function buildOrganization(customer: Customer): Promise<void> {
  await customer.ok('/v2/organizations/folders/add', {
    organizationId: 'acme',
    createOrganization: true,
    folders: [{ folderId: folder.folderId }],
  });
  const documents = (ids: readonly string[]) =>
    ids.map((documentId) => ({ documentId, documentName: `The ${documentId}` }));
  await customer.ok('/v2/organizations/documents/add', {
    organizationId: 'acme',
    folderId: folder.folderId,
    documents: documents(folder.documentIds),
  });
  await customer.ok('/v2/organizations/documents/add', {
    organizationId: 'acme',
    documents: documents(documentIds.filter((id) => !folder.documentIds.includes(id))),
  });
  await customer.ok('/v2/organizations/documents/add', {
    organizationId: 'labs',
    createOrganization: true,
    documents: documents(['nda']),
  });
  await customer.ok('/v2/users/add', {
    organizationId: 'acme',
    users: [...members].map((userId) => ({ userId, name: `Name of ${userId}` })),
  });
  await customer.ok('/v2/workspace/activityconfig/update', {
    activityServiceConfig: { isEnabled: true, immutable: false },
  });
}

/**
 * Creates 300 threads with 2,000 comments in all, one more thread with 1,000 comments, and records of all other kinds.
 */
export async function buildContent(fixture: Fixture): Promise<void> {
  const all: DocumentIds[] = [
    ...documentIds.map((documentId) => ({ organizationId: 'acme', documentId })),
    { organizationId: 'labs', documentId: 'nda' },
  ];
  const long = { organizationId: 'acme', documentId: HANDBOOK };
  await runChanges(
    all.flatMap((document) =>
      times(document.organizationId === 'acme' ? 4 : 1, () => fixture.addThreads(document, 16)),
    ),
  );
  for (let round = 0; round < 2; round++)
    await runChanges(
      fixture.pickSome(fixture.threads, 160).map((thread, index) => fixture.reply(thread, 1 + (index % 8))),
    );
  await runChanges(fixture.pickSome(fixture.threads, 60).map((thread) => fixture.edit(thread)));
  await runChanges(fixture.pickSome(fixture.threads, 60).map((thread) => fixture.change(thread)));
  await runChanges([
    ...all.flatMap((document) => [
      ...fixture.pickSome(fixture.threadsOf(document), 25).map((thread) => fixture.react(document, thread)),
      fixture.react(document, undefined),
      fixture.react(document, undefined),
    ]),
  ]);
  await runChanges(fixture.pickSome(fixture.threads, 25).map((thread) => fixture.removeComment(thread)));
  await runChanges(fixture.pickSome(fixture.threads, 15).map((thread) => fixture.replaceUser(thread)));
  await runChanges(fixture.pickSome(fixture.reactions, 10).map((reaction) => fixture.removeReaction(reaction)));
  await runChanges(
    all.map((document) =>
      fixture.removeThreads(
        fixture.pickSome(
          fixture
            .threadsOf(document)
            .filter(({ comments }) => comments.every(({ mentions }) => !mentions.includes(MONA))),
          3,
        ),
      ),
    ),
  );
  await runChanges(
    all.flatMap((document) => [
      fixture.record(document, 12),
      fixture.log(document, 40),
      ...times(20, () => fixture.notify(document)),
    ]),
  );
  const [longest] = fixture.threadsOf(long) as [WrittenThread];
  for (let remaining = 1_000 - longest.comments.length; remaining > 0; remaining -= 9)
    await fixture.reply(longest, Math.min(remaining, 9))();
}

interface TableLines {
  readonly lines: string[];
  /** The number of items of types that the ledger does not contain, by type. */
  readonly others: Record<string, number>;
  /** The number of events, by type. */
  readonly events: Record<string, number>;
  /** The number of payloads of events, in the events or in items of their own. */
  readonly payloads: number;
}

/** Reads the table. Returns a customer's content in the form of ledger lines. */
export async function tableLines(engine: Engine, { apiKey }: Customer): Promise<TableLines> {
  const items = await itemsOfTenant(engine, apiKey);
  const decoded = (part: string | undefined) =>
    (part ?? '').replace(/%([0-9a-f]{2})/g, (_escaped, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  const partOf = (key: string, index: number) => decoded(key.split('#').at(index));
  const organizations = new Map(
    items.filter(({ _t }) => _t === 'Organization').map((item) => [item.internalId, item.organizationId]),
  );
  const documents = new Map(
    items
      .filter(({ _t }) => _t === 'Document')
      .map((item) => [item.internalId, `${organizations.get(partOf(item.PK, 3))}/${item.documentId}`]),
  );
  // The last part but one of the partition key is the document's internal id.
  const documentOf = ({ PK }: Record<string, any>) => documents.get(partOf(PK, -2));
  const line: Record<string, (item: Record<string, any>) => string> = {
    Thread: (item) =>
      `thread ${documentOf(item)} ${item.annotationId} with ${item.commentCount} at ${item.locationKey ?? ''}`,
    Comment: (item) =>
      `comment ${documentOf(item)} ${item.annotationId}/${item.commentId} with ${(item.reactions ?? [])
        .map(({ id }: any) => id)
        .sort()
        .join()}`,
    RecordId: (item) =>
      `id ${documents.get(item.documentKey)} ${partOf(item.PK, -2)} ${partOf(item.PK, -1)} in ${partOf(item.SK, 1)}`,
    DeletedThread: (item) => `tombstone ${documents.get(partOf(item.PK, -2))} ${item.annotationId}`,
    Involvement: (item) =>
      `involvement ${partOf(item.PK, -1)} ${item.made ? 'made' : 'in'} ${partOf(item.SK, 1)} ${documents.get(item.documentKey)} ${item.id}${item.commentId === undefined ? '' : `/${item.commentId}`}`,
    Reaction: (item) =>
      `reaction ${documentOf(item)} ${item.annotationId} by ${item.fromUsers
        .map(({ from }: any) => from.userId)
        .sort()
        .join()} at ${item.locationKey ?? ''}`,
    Recording: (item) => `recording ${documentOf(item)} ${item.annotationId} at ${item.locationKey ?? ''}`,
    Notification: (item) => `notification ${documentOf(item)} ${item.id} at ${item.locationKey ?? ''}`,
    Activity: (item) =>
      `activity ${documentOf(item)} ${item.actionType} ${item.targetEntityId}/${item.targetSubEntityId ?? ''}`,
  };
  const others = items.filter(({ _t }) => !line[_t]);
  // The ledger cannot contain activity ids that the service generates. Instead, the records of these ids are compared
  // with the activities.
  const own = (id: string) => id.startsWith('act_');
  const activityIds = items
    .filter(({ _t, id }) => _t === 'Activity' && own(id))
    .map(({ id }) => id)
    .sort();
  const namedIds = items
    .filter(({ _t, PK }) => _t === 'RecordId' && own(partOf(PK, -1)))
    .map(({ PK }) => partOf(PK, -1))
    .sort();
  expect(namedIds).toEqual(activityIds);
  return {
    lines: items
      .filter(({ _t, PK }) => line[_t] && !(_t === 'RecordId' && own(partOf(PK, -1))))
      .map((item) => (line[item._t] as (item: Record<string, any>) => string)(item))
      .sort(),
    others: countBy(others, '_t'),
    events: countBy(
      others.filter(({ _t }) => _t === 'Event'),
      'event',
    ),
    payloads: others.filter(({ _t, smallPayload }) => _t === 'EventPayload' || smallPayload !== undefined).length,
  };
}

function countBy(items: readonly Record<string, any>[], attribute: string): Record<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) countUp(counts, item[attribute]);
  return Object.fromEntries(counts);
}

/**
 * Returns up to 20 missing and up to 20 unexpected lines. A line that occurs more often than expected counts as
 * unexpected.
 */
export function differenceOf(
  actual: readonly string[],
  expected: readonly string[],
): { missing: string[]; unexpected: string[] } {
  const counts = new Map<string, number>();
  for (const line of actual) countUp(counts, line);
  for (const line of expected) countUp(counts, line, -1);
  const lines = (sign: 1 | -1) => [...counts].flatMap(([line, count]) => (count * sign > 0 ? [line] : [])).slice(0, 20);
  return { missing: lines(-1), unexpected: lines(1) };
}
