import { expect } from '@jest/globals';
import { locationKey } from '../../lib/content/rules/location.ts';
import { inParallel } from '../../lib/shared/inParallel.ts';
import type { Customer } from './customer.ts';
import type { Engine } from './engine.ts';
import { everyItem } from './items.ts';

/** Numbers from 0 up to 1 that look random, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Where something lies, under the customer's ids. */
export interface At {
  readonly organizationId: string;
  readonly documentId: string;
}

export interface WrittenComment {
  readonly commentId: number;
  from: string;
  mentions: string[];
}

export interface WrittenThread {
  readonly at: At;
  readonly annotationId: string;
  from: string;
  comments: WrittenComment[];
  lastCommentId: number;
  statusId: string;
  assignee: string | undefined;
  scope: string | undefined;
  /** Who sees it besides the author; everybody when it is not private. */
  readonly sees: 'members' | readonly string[] | undefined;
}

export interface WrittenReaction {
  readonly at: At;
  readonly annotationId: string;
  readonly users: string[];
  readonly on: { readonly thread: WrittenThread; readonly commentId: number } | undefined;
  readonly scope: string | undefined;
}

export interface WrittenRecording {
  readonly at: At;
  readonly annotationId: string;
  readonly from: string;
  readonly scope: string | undefined;
}

export interface WrittenNotification {
  readonly at: At;
  readonly id: string;
  readonly actor: string;
  readonly notify: readonly string[];
  readonly all: boolean;
  readonly about: WrittenThread | undefined;
  readonly scope: string | undefined;
}

interface WrittenActivity {
  readonly at: At;
  readonly id: string;
  readonly target: string;
}

/** Something that is planned and in the ledger already: run, it is sent, and its answer checked against the ledger. */
export type Act = () => Promise<unknown>;

/** The document of the organization that gets deleted whole, and where the long thread is. */
export const HANDBOOK = 'handbook';
export const documentIds = ['nda', 'offer', 'terms', 'plan', HANDBOOK];
/** The documents that lie in the folder. */
export const folder = { folderId: 'contracts', documentIds: ['nda', 'offer'] };
/** Mentioned in 250 comments, and otherwise in nothing. */
export const MONA = 'mona';
const authors = [
  ...Array.from({ length: 35 }, (_each, index) => `user-${String(index).padStart(2, '0')}`),
  '__proto__',
  'constructor',
  'zoë 🦉#1',
  'a%b~c',
];
export const userIds = [...authors, MONA];
/** The last ones are no members of the organization. */
const members = new Set([...userIds.slice(0, 33), MONA]);

const locations = [
  { id: 'page-1', locationName: 'Page 1' },
  { id: 2, locationName: 'Page 2' },
  { id: '__proto__' },
  { locationName: 'Appendix #A' },
];
/** What the locations are known by. */
export const places = locations.map((location) => locationKey(location));
const statuses: Record<string, string | object> = {
  OPEN: 'OPEN',
  IN_PROGRESS: { id: 'IN_PROGRESS', name: 'Doing', type: 'ongoing' },
  RESOLVED: 'RESOLVED',
  constructor: { id: 'constructor', name: 'Blocked' },
};
export const statusIds = Object.keys(statuses);
const said = [
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

/** A name of a place, for the lines of the ledger. */
const nameOf = ({ organizationId, documentId }: At) => `${organizationId}/${documentId}`;
const countUp = (counts: Map<string, number>, key: string, by = 1) => void counts.set(key, (counts.get(key) ?? 0) + by);

/**
 * Content of an organization, made through the API by a seeded generator, with a ledger of its own: what there is, by the words of those
 * who wrote it. Each method plans one change: it is in the ledger at once, and sent when the act that it gives is run.
 */
export class Fixture {
  threads: WrittenThread[] = [];
  reactions: WrittenReaction[] = [];
  recordings: WrittenRecording[] = [];
  notifications: WrittenNotification[] = [];
  activities: WrittenActivity[] = [];
  /** The events that were asked for, by type. */
  readonly events = new Map<string, number>();
  /** The activities that changes were to write, as lines of the ledger. */
  readonly logged: string[] = [];
  /** The tombstones of deleted threads. */
  readonly tombstones: string[] = [];
  readonly #customer: Customer;
  readonly #random: () => number;
  #made = 0;
  #monas = 250;

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

  /** Some of the values, each at most once. */
  some<T>(values: readonly T[], count: number): T[] {
    const rest = [...values];
    return Array.from(
      { length: Math.min(count, rest.length) },
      () => rest.splice(Math.floor(this.#random() * rest.length), 1)[0] as T,
    );
  }

  #id(kind: string): string {
    // Some begin like others, and some have what keys are made of.
    return `${this.#pick(['', '', '', '#', '~', 'é '])}${kind}${(this.#made += 1)}`;
  }

  #place(): { location: object; scope: string } | undefined {
    const index = Math.floor(this.#random() * locations.length * 2);
    return locations[index] && { location: locations[index], scope: places[index] as string };
  }

  /** Whether a change is to be told and logged; what is asked for goes into the ledger. */
  #triggers(at: At, event: string, target: string, asked = [this.#chance(0.15), this.#chance(0.1)]) {
    const [triggerNotification, triggerActivities] = asked as [boolean, boolean];
    if (triggerNotification) countUp(this.events, event);
    if (triggerActivities) this.logged.push(`activity ${nameOf(at)} ${event} ${target}`);
    return { triggerNotification, triggerActivities };
  }

  #send(path: string, at: At, data: object): Promise<any> {
    return this.#customer.ok(path, { ...at, ...data });
  }

  async #succeeds(path: string, at: At, data: object): Promise<void> {
    const results = Object.entries<any>(await this.#send(path, at, data));
    expect(results.filter(([, { success }]) => !success)).toEqual([]);
  }

  /** Comments as they are sent, and as the ledger has them. */
  #comments(first: number, count: number, mayMention: boolean) {
    return Array.from({ length: count }, (_each, index) => {
      const from = this.#pick(authors);
      const others = this.#chance(0.3) ? this.some(authors, 1 + Math.floor(this.#random() * 3)) : [];
      const mentions = mayMention && this.#monas > 0 && this.#chance(0.5) ? [...others, MONA] : others;
      if (mentions.length > others.length) this.#monas -= 1;
      const comment: WrittenComment = { commentId: first + index, from, mentions };
      return {
        comment,
        sent: {
          commentText: `${this.#pick(said)} ${first + index}`,
          from: { userId: from, name: `Name of ${from}` },
          ...this.#mentioning(mentions),
        },
      };
    });
  }

  /** Those who are mentioned, in all the ways in which one can be. */
  #mentioning(mentions: readonly string[]) {
    const tagged = mentions
      .slice(0, 2)
      .map((userId, index) =>
        index === 0 ? { userId, text: `@${userId}` } : { text: '@', contact: { userId, name: 'x' } },
      );
    return { taggedUserContacts: tagged, to: mentions.slice(2).map((userId) => ({ userId })) };
  }

  addThreads(at: At, count: number): Act {
    const created = Array.from({ length: count }, () => {
      const annotationId = this.#id('thread');
      const comments = this.#comments(1, 1 + Math.floor(this.#random() * 4), false);
      const lies = this.#place();
      const assignee = this.#chance(0.2) ? this.#pick(authors) : undefined;
      const sees = this.#chance(0.12)
        ? this.#chance(0.4)
          ? ('members' as const)
          : [MONA, ...this.some(authors, 2)]
        : undefined;
      const thread: WrittenThread = {
        at,
        annotationId,
        from: (comments[0] as { comment: WrittenComment }).comment.from,
        comments: comments.map(({ comment }) => comment),
        lastCommentId: comments.length,
        statusId: this.#chance(0.3) ? this.#pick(statusIds) : 'OPEN',
        assignee,
        scope: lies?.scope,
        sees,
      };
      this.threads.push(thread);
      // However many of its comments ask, it is one event and one activity.
      const triggers = this.#triggers(at, 'comment_annotation.add', `${annotationId}/1`);
      const commentData = comments.map(({ sent }, index) => ({
        ...sent,
        ...(index >= comments.length - 2 ? triggers : {}),
      }));
      return {
        thread,
        sent: {
          annotationId,
          commentData,
          location: lies?.location,
          createdAt: START + Math.floor(this.#random() * 60) * HOUR,
          status: statuses[thread.statusId],
          assignedTo: assignee === undefined ? undefined : { userId: assignee },
          visibility:
            sees === undefined
              ? undefined
              : sees === 'members'
                ? { type: 'organizationPrivate' }
                : { type: 'restricted', userIds: sees },
        },
      };
    });
    return async () => {
      const results = await this.#send('/v2/commentannotations/add', at, {
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

  reply(thread: WrittenThread, count: number): Act {
    const comments = this.#comments(thread.lastCommentId + 1, count, thread.at.organizationId === 'acme');
    thread.comments.push(...comments.map(({ comment }) => comment));
    thread.lastCommentId += count;
    const commentData = comments.map(({ comment, sent }) => ({
      ...sent,
      ...this.#triggers(thread.at, 'comment.add', `${thread.annotationId}/${comment.commentId}`),
    }));
    return async () => {
      const ids = await this.#send('/v2/commentannotations/comments/add', thread.at, {
        annotationId: thread.annotationId,
        commentData,
      });
      expect(ids).toEqual(comments.map(({ comment: { commentId } }) => commentId));
    };
  }

  /** Changes a comment that does not mention Mona. */
  edit(thread: WrittenThread): Act {
    const comment = this.#pick(thread.comments.filter(({ mentions }) => !mentions.includes(MONA)));
    if (!comment) return async () => undefined;
    comment.mentions = this.some(authors, Math.floor(this.#random() * 4));
    const updatedData = {
      commentText: `Edited: ${this.#pick(said)} ${(this.#made += 1)}`,
      ...this.#mentioning(comment.mentions),
    };
    const data = {
      annotationId: thread.annotationId,
      commentIds: [comment.commentId],
      updatedData,
      ...this.#triggers(thread.at, 'comment.update', `${thread.annotationId}/${comment.commentId}`),
    };
    return () => this.#succeeds('/v2/commentannotations/comments/update', thread.at, data);
  }

  /** Deletes a comment that does not mention Mona, where another one is left. */
  removeComment(thread: WrittenThread): Act {
    const comment = this.#pick(thread.comments.filter(({ mentions }) => !mentions.includes(MONA)));
    if (!comment || thread.comments.length === 1) return async () => undefined;
    const { commentId } = comment;
    thread.comments = thread.comments.filter((one) => one !== comment);
    this.reactions = this.reactions.filter(({ on }) => on?.thread !== thread || on.commentId !== commentId);
    const data = {
      annotationId: thread.annotationId,
      commentIds: [commentId],
      ...this.#triggers(thread.at, 'comment.delete', `${thread.annotationId}/${commentId}`),
    };
    return () => this.#succeeds('/v2/commentannotations/comments/delete', thread.at, data);
  }

  /** Changes status, assignee or location. */
  change(thread: WrittenThread): Act {
    const [what, statusId, assignee, lies] = [
      this.#pick(['status', 'assignedTo', 'location']),
      this.#pick(statusIds),
      this.#pick(authors),
      this.#place(),
    ];
    const differs =
      what === 'status' ? statusId !== thread.statusId : what === 'assignedTo' && assignee !== thread.assignee;
    const asked = [differs && this.#chance(0.3), differs && this.#chance(0.2)];
    const triggers = this.#triggers(
      thread.at,
      what === 'status' ? 'comment_annotation.status_change' : 'comment_annotation.assign',
      `${thread.annotationId}/`,
      asked,
    );
    if (what === 'status') thread.statusId = statusId;
    if (what === 'assignedTo') thread.assignee = assignee;
    if (what === 'location' && lies) thread.scope = lies.scope;
    const updatedData =
      what === 'status'
        ? { status: statuses[statusId] }
        : what === 'assignedTo'
          ? { assignedTo: { userId: assignee } }
          : { location: lies?.location, targetElement: { line: this.#made } };
    return () =>
      this.#succeeds('/v2/commentannotations/update', thread.at, {
        annotationIds: [thread.annotationId],
        updatedData,
        ...triggers,
        actionUser: { userId: MONA },
      });
  }

  /** Puts one user in the place of another in a thread. */
  replaceUser(thread: WrittenThread): Act {
    const [oldUser, newUser] = [this.#pick(thread.comments).from, this.#pick(authors)];
    const replaced = (userId: string) => (userId === oldUser ? newUser : userId);
    thread.from = replaced(thread.from);
    thread.assignee = thread.assignee && replaced(thread.assignee);
    for (const comment of thread.comments) {
      comment.from = replaced(comment.from);
      comment.mentions = comment.mentions.map(replaced);
    }
    return () =>
      this.#succeeds('/v2/commentannotations/update', thread.at, {
        annotationIds: [thread.annotationId],
        updateUsers: [{ oldUser: { userId: oldUser }, newUser: { userId: newUser } }],
      });
  }

  /** Deletes threads of one document. */
  removeThreads(threads: readonly WrittenThread[]): Act {
    this.forget(threads);
    const at = (threads[0] as WrittenThread).at;
    const triggers = this.#triggers(at, 'comment.delete', '', [this.#chance(0.5), false]);
    if (triggers.triggerNotification) countUp(this.events, 'comment.delete', threads.length - 1);
    return () =>
      this.#succeeds('/v2/commentannotations/delete', at, {
        annotationIds: threads.map(({ annotationId }) => annotationId),
        ...triggers,
      });
  }

  /** Removes threads and their reactions from the ledger, and adds the tombstones of the threads. */
  forget(threads: readonly WrittenThread[]): void {
    this.tombstones.push(...threads.map(({ at, annotationId }) => `tombstone ${nameOf(at)} ${annotationId}`));
    this.threads = this.threads.filter((thread) => !threads.includes(thread));
    this.reactions = this.reactions.filter(({ on }) => !on || !threads.includes(on.thread));
  }

  react(at: At, thread: WrittenThread | undefined): Act {
    const annotationId = this.#id('reaction');
    const users = this.some(authors, 1 + Math.floor(this.#random() * 3));
    const on = thread && { thread, commentId: this.#pick(thread.comments).commentId };
    const lies = this.#chance(0.6) ? this.#place() : undefined;
    this.reactions.push({ at, annotationId, users, on, scope: lies?.scope });
    if (on) countUp(this.events, 'comment.reaction_add', users.length);
    const target = on && { commentAnnotationId: on.thread.annotationId, commentId: on.commentId };
    return () =>
      this.#succeeds('/v2/reactions/add', at, {
        reactions: users.map((userId) => ({
          annotationId,
          icon: '👍',
          from: { userId },
          ...target,
          location: lies?.location,
        })),
      });
  }

  removeReaction(reaction: WrittenReaction): Act {
    this.reactions = this.reactions.filter((one) => one !== reaction);
    if (reaction.on) countUp(this.events, 'comment.reaction_delete');
    return () => this.#succeeds('/v2/reactions/delete', reaction.at, { annotationIds: [reaction.annotationId] });
  }

  record(at: At, count: number): Act {
    const recordings = Array.from({ length: count }, () => {
      const [annotationId, from, lies] = [this.#id('recording'), this.#pick(authors), this.#place()];
      this.recordings.push({ at, annotationId, from, scope: lies?.scope });
      return {
        annotationId,
        recordingType: 'screen',
        from: { userId: from },
        location: lies?.location,
        recordedTime: { duration: 61_000, display: '1:01' },
      };
    });
    countUp(this.events, 'recorder.done', count);
    return () => this.#succeeds('/v2/recordings/add', at, { recordings });
  }

  notify(at: At): Act {
    const [id, actor, all, notify] = [
      `ntf-${(this.#made += 1)}`,
      this.#pick(authors),
      this.#chance(0.2),
      this.some(authors, 1 + Math.floor(this.#random() * 3)),
    ];
    const [about, lies] = [this.#chance(0.5) ? this.#pick(this.threadsOf(at)) : undefined, this.#place()];
    this.notifications.push({ at, id, actor, notify, all, about, scope: lies?.scope });
    return () =>
      this.#send('/v2/notifications/add', at, {
        notificationId: id,
        actionUser: { userId: actor },
        notifyAll: all,
        notifyUsers: notify.map((userId) => ({ userId, email: `${userId.length}@example.com` })),
        location: lies?.location,
        displayHeadlineMessageTemplate: '{actionUser} did it',
        displayBodyMessage: this.#pick(said),
        ...(about && { notificationSource: 'comment', notificationSourceData: { annotationId: about.annotationId } }),
      });
  }

  removeNotification(notification: WrittenNotification): Act {
    this.notifications = this.notifications.filter((one) => one !== notification);
    const { organizationId } = notification.at;
    return () => this.#customer.ok('/v2/notifications/delete', { organizationId, notificationIds: [notification.id] });
  }

  log(at: At, count: number): Act {
    const activities = Array.from({ length: count }, () => {
      const [id, target] = [this.#id('activity'), `target-${Math.floor(this.#random() * 3)}`];
      this.activities.push({ at, id, target });
      return {
        id,
        featureType: 'custom',
        actionType: 'document.sign',
        actionUser: { userId: this.#pick(authors) },
        targetEntityId: target,
        changes: { status: { from: 'open', to: 'signed' } },
      };
    });
    return () => this.#send('/v2/activities/add', at, { activities });
  }

  removeActivity(activity: WrittenActivity): Act {
    this.activities = this.activities.filter((one) => one !== activity);
    return () =>
      this.#customer.ok('/v2/activities/delete', {
        organizationId: activity.at.organizationId,
        activityIds: [activity.id],
      });
  }

  /** What others do while somebody reads: each of it about another thread. What was there before stays, but for what is volatile. */
  disturb(at: At, isVolatile: (id: string) => boolean): Act[] {
    const own = this.threadsOf(at).filter(({ comments }) => comments.length < 100);
    const [volatile, staying] = [
      own.filter(({ annotationId }) => isVolatile(annotationId)),
      own.filter(({ annotationId }) => !isVolatile(annotationId)),
    ];
    const [changed, edited, replied, loved] = this.some(staying, 4);
    const [gone, cut] = this.some(volatile, 2);
    const acts: Act[] = [this.addThreads(at, 2)];
    if (changed) acts.push(this.change(changed));
    if (edited) acts.push(this.edit(edited));
    if (replied) acts.push(this.reply(replied, 2));
    if (loved) acts.push(this.react(at, loved));
    if (cut) acts.push(this.removeComment(cut));
    if (gone) acts.push(this.removeThreads([gone]));
    const [notification] = this.some(
      this.notifications.filter(({ id, at: { documentId } }) => isVolatile(id) && documentId === at.documentId),
      1,
    );
    if (notification) acts.push(this.removeNotification(notification));
    const [activity] = this.some(
      this.activities.filter(({ id, at: { documentId } }) => isVolatile(id) && documentId === at.documentId),
      1,
    );
    if (activity) acts.push(this.removeActivity(activity));
    return [...acts, this.record(at, 1), this.notify(at), this.log(at, 1)];
  }

  threadsOf({ organizationId, documentId }: At): WrittenThread[] {
    return this.threads.filter(({ at }) => at.organizationId === organizationId && at.documentId === documentId);
  }

  /** Whether a user may see a thread. */
  sees(userId: string, { from, sees }: Pick<WrittenThread, 'from' | 'sees'>): boolean {
    return sees === undefined || userId === from || (sees === 'members' ? members.has(userId) : sees.includes(userId));
  }

  /** What a user's data consist of, as ids in order. */
  dataOf(
    organizationId: string,
    userId: string,
  ): { comments: string[]; reactions: string[]; recordings: string[]; notifications: string[] } {
    const own = <T extends { at: At }>(records: readonly T[]) =>
      records.filter(({ at }) => at.organizationId === organizationId);
    return {
      comments: own(this.threads)
        .flatMap((thread) =>
          thread.comments.flatMap((comment) => {
            const made = involvedIn(thread, comment).get(userId);
            return made === true || (made === false && this.sees(userId, thread))
              ? [`${thread.at.documentId} ${thread.annotationId}/${comment.commentId}`]
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
            actor === userId || (notify.includes(userId) && (!about || this.sees(userId, about))),
        )
        .map(({ id }) => id)
        .sort(),
    };
  }

  /** Every item that the table is to hold of all this, as lines. */
  lines(): string[] {
    const named = (kind: string, at: At, id: string, within: string) => `id ${nameOf(at)} ${kind} ${id} in ${within}`;
    const edge = (userId: string, made: boolean, kind: string, at: At, id: string) =>
      `edge ${userId} ${made ? 'made' : 'in'} ${kind} ${nameOf(at)} ${id}`;
    return [
      ...this.threads.flatMap((thread) => {
        const { at, annotationId, comments, scope = '' } = thread;
        return [
          `thread ${nameOf(at)} ${annotationId} with ${comments.length} at ${scope}`,
          named('thread', at, annotationId, at.documentId),
          ...comments.flatMap((comment) => [
            `comment ${nameOf(at)} ${annotationId}/${comment.commentId} with ${this.reactions
              .filter(({ on }) => on?.thread === thread && on.commentId === comment.commentId)
              .map((one) => one.annotationId)
              .sort()
              .join()}`,
            ...[...involvedIn(thread, comment)].map(([userId, made]) =>
              edge(userId, made, 'comment', at, `${annotationId}/${comment.commentId}`),
            ),
          ]),
        ];
      }),
      ...this.reactions.flatMap(({ at, annotationId, users, scope = '' }) => [
        `reaction ${nameOf(at)} ${annotationId} by ${users.toSorted().join()} at ${scope}`,
        named('reaction', at, annotationId, at.documentId),
        ...users.map((userId) => edge(userId, true, 'reaction', at, annotationId)),
      ]),
      ...this.recordings.flatMap(({ at, annotationId, from, scope = '' }) => [
        `recording ${nameOf(at)} ${annotationId} at ${scope}`,
        named('recording', at, annotationId, at.documentId),
        edge(from, true, 'recording', at, annotationId),
      ]),
      ...this.notifications.flatMap(({ at, id, actor, notify, all, scope = '' }) => [
        `notification ${nameOf(at)} ${id} at ${scope}`,
        named('notification', at, id, ''),
        ...new Set(
          [actor, ...notify, ...(all ? ['\u0000everybody'] : [])].map((userId) =>
            edge(userId, userId === actor, 'notification', at, id),
          ),
        ),
      ]),
      ...this.activities.flatMap(({ at, id, target }) => [
        `activity ${nameOf(at)} document.sign ${target}/`,
        named('activity', at, id, ''),
      ]),
      ...this.tombstones,
      ...this.logged,
    ].sort();
  }
}

/** Whom a comment involves, and whether each of them wrote it: with the first one of a thread the assignee too. */
function involvedIn({ comments, assignee }: WrittenThread, comment: WrittenComment): Map<string, boolean> {
  const assigned = assignee !== undefined && comments[0] === comment ? [[assignee, false] as const] : [];
  return new Map([...assigned, ...comment.mentions.map((userId) => [userId, false] as const), [comment.from, true]]);
}

/** Runs acts, some at a time. */
export function run(acts: readonly Act[]): Promise<void> {
  return inParallel(acts, PARALLEL, async (act) => {
    await act();
  });
}

/** An organization of 40 users with 5 documents, and another one of the same customer that has a document with the same id. */
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

/** 300 threads with 2,000 comments, and what belongs to them; with a thread of 1,000 comments besides. */
export async function buildContent(fixture: Fixture): Promise<void> {
  const all: At[] = [
    ...documentIds.map((documentId) => ({ organizationId: 'acme', documentId })),
    { organizationId: 'labs', documentId: 'nda' },
  ];
  const long = { organizationId: 'acme', documentId: HANDBOOK };
  const times = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_each, index) => make(index));
  await run(all.flatMap((at) => times(at.organizationId === 'acme' ? 4 : 1, () => fixture.addThreads(at, 16))));
  for (let round = 0; round < 2; round++)
    await run(fixture.some(fixture.threads, 160).map((thread, index) => fixture.reply(thread, 1 + (index % 8))));
  await run(fixture.some(fixture.threads, 60).map((thread) => fixture.edit(thread)));
  await run(fixture.some(fixture.threads, 60).map((thread) => fixture.change(thread)));
  await run([
    ...all.flatMap((at) => [
      ...fixture.some(fixture.threadsOf(at), 25).map((thread) => fixture.react(at, thread)),
      fixture.react(at, undefined),
      fixture.react(at, undefined),
    ]),
  ]);
  await run(fixture.some(fixture.threads, 25).map((thread) => fixture.removeComment(thread)));
  await run(fixture.some(fixture.threads, 15).map((thread) => fixture.replaceUser(thread)));
  await run(fixture.some(fixture.reactions, 10).map((reaction) => fixture.removeReaction(reaction)));
  await run(
    all.map((at) =>
      fixture.removeThreads(
        fixture.some(
          fixture.threadsOf(at).filter(({ comments }) => comments.every(({ mentions }) => !mentions.includes(MONA))),
          3,
        ),
      ),
    ),
  );
  await run(all.flatMap((at) => [fixture.record(at, 12), fixture.log(at, 40), ...times(20, () => fixture.notify(at))]));
  const [longest] = fixture.threadsOf(long) as [WrittenThread];
  for (let left = 1_000 - longest.comments.length; left > 0; left -= 9)
    await fixture.reply(longest, Math.min(left, 9))();
}

export interface TableLines {
  readonly lines: string[];
  /** How many items there are of each type that the ledger does not have. */
  readonly others: Record<string, number>;
  /** How many events there are of each type. */
  readonly events: Record<string, number>;
}

/** Every item of the table that is a customer's content, as lines of the ledger. */
export async function tableLines(engine: Engine, { apiKey }: Customer): Promise<TableLines> {
  const items = (await everyItem(engine)).filter(({ PK }) => PK.startsWith(`T#${apiKey}#`));
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
  // Where a record lies is the part before the last of its partition.
  const lies = ({ PK }: Record<string, any>) => documents.get(partOf(PK, -2));
  const line: Record<string, (item: Record<string, any>) => string> = {
    Thread: (item) =>
      `thread ${lies(item)} ${item.annotationId} with ${item.commentCount} at ${item.locationKey ?? ''}`,
    Comment: (item) =>
      `comment ${lies(item)} ${item.annotationId}/${item.commentId} with ${(item.reactions ?? [])
        .map(({ id }: any) => id)
        .sort()
        .join()}`,
    RecordId: (item) =>
      `id ${documents.get(item.documentKey)} ${partOf(item.PK, -2)} ${partOf(item.PK, -1)} in ${partOf(item.SK, 1)}`,
    DeletedThread: (item) => `tombstone ${documents.get(partOf(item.PK, -2))} ${item.annotationId}`,
    Involvement: (item) =>
      `edge ${partOf(item.PK, -1)} ${item.made ? 'made' : 'in'} ${partOf(item.SK, 1)} ${documents.get(item.documentKey)} ${item.id}${item.commentId === undefined ? '' : `/${item.commentId}`}`,
    Reaction: (item) =>
      `reaction ${lies(item)} ${item.annotationId} by ${item.fromUsers
        .map(({ from }: any) => from.userId)
        .sort()
        .join()} at ${item.locationKey ?? ''}`,
    Recording: (item) => `recording ${lies(item)} ${item.annotationId} at ${item.locationKey ?? ''}`,
    Notification: (item) => `notification ${lies(item)} ${item.id} at ${item.locationKey ?? ''}`,
    Activity: (item) =>
      `activity ${lies(item)} ${item.actionType} ${item.targetEntityId}/${item.targetSubEntityId ?? ''}`,
  };
  const others = items.filter(({ _t }) => !line[_t]);
  // Activities of the service's own have ids that nobody chose: each has its id, and each such id its activity.
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
  };
}

function countBy(items: readonly Record<string, any>[], attribute: string): Record<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) countUp(counts, item[attribute]);
  return Object.fromEntries(counts);
}

/** What is in one list and not in the other, each line as often as it is too much. */
export function differenceOf(
  actual: readonly string[],
  expected: readonly string[],
): { missing: string[]; tooMuch: string[] } {
  const counts = new Map<string, number>();
  for (const line of actual) countUp(counts, line);
  for (const line of expected) countUp(counts, line, -1);
  const lines = (sign: 1 | -1) => [...counts].flatMap(([line, count]) => (count * sign > 0 ? [line] : [])).slice(0, 20);
  return { missing: lines(-1), tooMuch: lines(1) };
}
