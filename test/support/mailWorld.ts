import { expect } from '@jest/globals';
import { OrganizationEntity } from '../../lib/directory/organizations.ts';
import { recipientsOf } from '../../lib/events/rules/recipients.ts';
import { WaitingEntryEntity } from '../../lib/mail/waiting/entryStore.ts';
import type { OccurredEvent } from '../../lib/notifications/audience.ts';
import { itemsOf, occurredEvents } from './content.ts';
import { type Customer, newCustomer } from './customer.ts';
import type { Engine } from './engine.ts';
import { MailModel, type ModelSettings, type ModelWindow } from './mailModel.ts';
import { MailSystem } from './mailSystem.ts';
import { withStillClock } from './stillClock.ts';
import { times } from './times.ts';

const SECOND = 1_000;
const HOUR = 60 * 60 * SECOND;

/** `grace` and `grace-2` have the same address. */
const addresses: Readonly<Record<string, string>> = {
  ada: 'ada@example.com',
  bob: 'bob@example.com',
  grace: 'grace@example.com',
  'grace-2': 'Grace@example.com',
};
const addressOf = (userId: string) => (addresses[userId] ?? '').toLowerCase();
const users = Object.keys(addresses).map((userId) => ({ userId, email: addresses[userId] }));

/** Only members of the organization see the document `plan`. */
const PRIVATE = 'plan';

type Level = 'ALL' | 'MINE' | 'NONE';

export type MailStep =
  | {
      readonly do: 'comment';
      readonly from: string;
      readonly document: string;
      readonly thread: string;
      readonly to: readonly string[];
      /** More than one makes new threads in one call. */
      readonly threads: number;
    }
  | {
      readonly do: 'view';
      readonly user: string;
      readonly document: string;
      readonly thread: string;
      readonly ago: number;
    }
  | { readonly do: 'read'; readonly user: string; readonly document: string }
  | ({ readonly do: 'configure' } & ModelSettings)
  | { readonly do: 'level'; readonly user: string; readonly level: Level }
  | { readonly do: 'deleteComment' | 'deleteThread'; readonly document: string; readonly thread: string }
  | { readonly do: 'deleteDocument'; readonly document: string }
  | { readonly do: 'removeUser' | 'addUser'; readonly user: string }
  | { readonly do: 'pass'; readonly seconds: number }
  /** The model knows no limits. */
  | { readonly do: 'limits'; readonly recipient: number; readonly writer: number };

interface Comment {
  readonly token: string;
  readonly commentId: number;
  readonly from: string;
}

interface Thread {
  readonly annotationId: string;
  readonly comments: Comment[];
  lastCommentId: number;
}

interface Activity {
  readonly token: string;
  readonly from: string;
  readonly document: string;
  readonly annotationId: string;
  readonly at: number;
  /** The users who must get it. */
  readonly userIds: readonly string[];
  readonly addressed: readonly string[];
}

/** A customer with the real system of mails, and a model of it. Each step changes both. */
export class MailWorld {
  readonly system: MailSystem;
  readonly #engine: Engine;
  readonly #customer: Customer;
  /** The largest limit of mails to an address so far. */
  #maxLimit = 0;
  readonly #model: MailModel;
  readonly #activities = new Map<string, Activity>();
  readonly #threads = new Map<string, Thread>();
  readonly #deleted = new Set<string>();
  /** When each user has last seen a thread, by user and thread. */
  readonly #seenAt = new Map<string, number>();
  /** By user and activity. */
  readonly #read = new Set<string>();
  readonly #levels = new Map<string, Level>();
  readonly #removed = new Set<string>();
  readonly #consumed = new Set<string>();
  /** The activities that were not to be sent at some time, by user and activity. */
  readonly #suppressed = new Set<string>();
  readonly #sent: { readonly to: string; readonly tokens: readonly string[]; readonly more: number; at: number }[] = [];
  #settings: ModelSettings = {};
  #tokens = 0;

  private constructor(engine: Engine, customer: Customer) {
    this.#engine = engine;
    this.#customer = customer;
    this.system = new MailSystem(engine, customer);
    this.system.now = START;
    const ses = this.system.ses!;
    this.system.ses = {
      send: async (mail) => {
        const more = /^And (\d+) more/m.exec(mail.text)?.[1];
        const tokens = [...new Set([...mail.text.matchAll(/#\d+#/g)].map(String))];
        this.#sent.push({ to: mail.to.toLowerCase(), tokens, more: Number(more ?? 0), at: this.system.now });
        return ses.send(mail);
      },
    };
    this.#model = new MailModel((entry) => this.#isSuppressed(entry.userId, entry.token));
  }

  static async create(engine: Engine): Promise<MailWorld> {
    return withStillClock(async () => {
      const customer = await newCustomer();
      const documents = ['nda', PRIVATE];
      await customer.addDocuments(documents);
      await customer.setAccess('organizationPrivate', [PRIVATE]);
      await customer.addUsers(users);
      const triggers = { 'comment_annotation.add': true, 'comment.add': true };
      await customer.ok('/v2/workspace/emailconfig/update', {
        useEmailService: true,
        emailServiceConfig: { triggers },
      });
      return new MailWorld(engine, customer);
    }, START);
  }

  /** A second passes before each step. */
  async do(step: MailStep): Promise<void> {
    await this.#pass(step.do === 'pass' ? step.seconds : 1);
    await this.#change(step);
    await this.#consumeEvents();
    this.#noteSuppressed();
    await this.#pass(0);
  }

  /** Returns the customer's stored items of one type. */
  storedOf(type: string): Promise<Record<string, any>[]> {
    return itemsOf(this.#engine, this.#customer, type);
  }

  async expectMailsOfModel(): Promise<void> {
    const { mails, waiting, dropped } = this.#model;
    const inOrder = (list: readonly string[]) => list.toSorted();
    // Activities of one call have the same time, so it is open which of them are only counted.
    const textOf = (at: number, to: string, tokens: readonly string[], more: number) => {
      const shown = more === 0 ? tokens : tokens.map((token) => `@${this.#activities.get(token)?.at}`);
      return `${at - START} ${to} ${inOrder(shown).join()} ${more}`;
    };
    const expected = mails.map(({ userId, tokens, at }) =>
      textOf(at, addressOf(userId), tokens.slice(0, 30), Math.max(0, tokens.length - 30)),
    );
    expect(inOrder(this.#sent.map(({ to, tokens, more, at }) => textOf(at, to, tokens, more)))).toEqual(
      inOrder(expected),
    );
    const entries = await this.#storedEntries();
    expect(inOrder(entries)).toEqual(inOrder(waiting.map(({ userId, token }) => `${userId} ${token}`)));
    expect(this.system.dropped.reduce((sum, { entries: count }) => sum + count, 0)).toBe(dropped);
    for (const { userId, wakeAt } of await this.#wakeTimes())
      expect([userId, wakeAt <= this.#model.nextTime(userId)]).toEqual([userId, true]);
  }

  /**
   * Each activity has been mailed once, is not sent for a reason, or waits for a job that is due. No address gets an
   * activity of its own, or twice.
   */
  async expectEachActivityInOneState(): Promise<void> {
    const waiting = new Set(await this.#storedEntries());
    const wakeTimes = await this.#wakeTimes();
    for (const entry of waiting) {
      const userId = entry.split(' ')[0];
      const wakeAt = wakeTimes.find((job) => job.userId === userId)?.wakeAt ?? -1;
      expect([entry, wakeAt >= this.system.now]).toEqual([entry, true]);
    }
    const shown = this.#sent.flatMap(({ to, tokens }) => tokens.map((token) => `${to} ${token}`));
    expect(shown).toEqual([...new Set(shown)]);
    const counted = await this.#countedOnly();
    for (const { token, userIds, from } of this.#activities.values()) {
      expect([token, from, shown.includes(`${addressOf(from)} ${token}`)]).toEqual([token, from, false]);
      for (const userId of userIds) {
        const pair = `${userId} ${token}`;
        const isMailed = shown.includes(`${addressOf(userId)} ${token}`) || counted.has(pair);
        const isWaiting = waiting.has(pair);
        expect([pair, isMailed && isWaiting, isMailed || isWaiting || this.#suppressed.has(pair)]).toEqual([
          pair,
          false,
          true,
        ]);
      }
    }
    const due = (await this.system.stored()).filter(({ status }) => !['SENT', 'SKIPPED', 'COLLECTED'].includes(status));
    expect(due).toEqual([]);
    expect(this.system.skipped.filter((reason) => typeof reason !== 'string')).toEqual([]);
  }

  /** In any hour, an address gets at most the mails of two hours of the limit. */
  expectLimits(): void {
    for (const { to, at } of this.#sent) {
      const inHour = this.#sent.filter((mail) => mail.to === to && mail.at >= at && mail.at < at + HOUR);
      expect([to, inHour.length <= 2 * this.#maxLimit]).toEqual([to, true]);
    }
  }

  async #pass(seconds: number): Promise<void> {
    const until = this.system.now + seconds * SECOND;
    await this.system.passUntil(until);
    this.#model.advance(until);
  }

  #ok(path: string, data: object): Promise<any> {
    return withStillClock(() => this.#customer.untyped(path, { organizationId: 'acme', ...data }), this.system.now);
  }

  async #change(step: MailStep): Promise<unknown> {
    const { now } = this.system;
    switch (step.do) {
      case 'comment':
        return step.threads === 1 ? this.#comment(step) : this.#addThreads(step);
      case 'view': {
        const thread = this.#threads.get(nameOf(step));
        if (!thread || this.#isHidden(step.document, step.user)) return undefined;
        const viewedAt = now - step.ago * SECOND;
        this.#seen(step.user, thread, viewedAt);
        const annotationIds = [thread.annotationId];
        return this.#ok('/v2/commentannotations/views/add', {
          documentId: step.document,
          annotationIds,
          userId: step.user,
          ...(step.ago > 0 && { viewedAt }),
        });
      }
      case 'read':
        return this.#readNotifications(step);
      case 'configure': {
        const { delay, document, user } = (this.#settings = step);
        return withStillClock(
          () =>
            this.#customer.ok('/v2/workspace/notificationconfig/update', {
              useNotificationService: true,
              notificationServiceConfig: {
                delayConfig: { isEnabled: delay !== undefined, ...(delay && { delaySeconds: delay }) },
                batchConfig: { document: batchOf(document), user: batchOf(user) },
              },
            }),
          now,
        );
      }
      case 'level':
        this.#levels.set(step.user, step.level);
        return this.#ok('/v2/notifications/config/set', { userIds: [step.user], config: { email: step.level } });
      case 'deleteComment': {
        const thread = this.#threads.get(nameOf(step));
        // The author's other comment keeps the author in the thread.
        const comment = thread?.comments.find(({ from }, index) =>
          thread.comments.some((other, otherIndex) => otherIndex > index && other.from === from),
        );
        if (!thread || !comment) return undefined;
        thread.comments.splice(thread.comments.indexOf(comment), 1);
        this.#deleted.add(comment.token);
        return this.#ok('/v2/commentannotations/comments/delete', {
          documentId: step.document,
          annotationId: thread.annotationId,
          commentIds: [comment.commentId],
        });
      }
      case 'deleteThread': {
        const thread = this.#threads.get(nameOf(step));
        if (!thread) return undefined;
        this.#forget(nameOf(step));
        return this.#ok('/v2/commentannotations/delete', {
          documentId: step.document,
          annotationIds: [thread.annotationId],
        });
      }
      case 'deleteDocument': {
        for (const { token, document } of this.#activities.values())
          if (document === step.document) this.#deleted.add(token);
        for (const name of this.#threads.keys()) if (name.startsWith(`${step.document} `)) this.#forget(name);
        await this.#ok('/v2/organizations/documents/delete', { documentIds: [step.document] });
        await this.#ok('/v2/organizations/documents/add', { documents: [{ documentId: step.document }] });
        if (step.document !== PRIVATE) return undefined;
        return this.#ok('/v2/organizations/documents/access/update', {
          documentIds: [PRIVATE],
          accessType: 'organizationPrivate',
        });
      }
      case 'removeUser':
        if (this.#removed.has(step.user)) return undefined;
        this.#removed.add(step.user);
        return this.#ok('/v2/users/delete', { userIds: [step.user] });
      case 'addUser':
        this.#removed.delete(step.user);
        return this.#ok('/v2/users/add', { users: users.filter(({ userId }) => userId === step.user) });
      case 'limits': {
        const { recipient, writer } = step;
        this.system.limits = { recipient, writer };
        this.#maxLimit = Math.max(this.#maxLimit, recipient === 0 ? Infinity : recipient);
        return undefined;
      }
      case 'pass':
        return undefined;
    }
  }

  async #comment(step: Extract<MailStep, { do: 'comment' }>): Promise<void> {
    const name = nameOf(step);
    const token = this.#newToken();
    const commentData = [commentOf(step, token)];
    let thread = this.#threads.get(name);
    const documentId = step.document;
    if (thread) {
      const { annotationId } = thread;
      await this.#ok('/v2/commentannotations/comments/add', { documentId, annotationId, commentData });
    } else {
      const annotationId = `thread-${token.slice(1, -1)}`;
      thread = { annotationId, comments: [], lastCommentId: 0 };
      this.#threads.set(name, thread);
      await this.#ok('/v2/commentannotations/add', { documentId, commentAnnotations: [{ annotationId, commentData }] });
    }
    thread.lastCommentId++;
    thread.comments.push({ token, commentId: thread.lastCommentId, from: step.from });
    this.#seen(step.from, thread, this.system.now);
  }

  async #addThreads(step: Extract<MailStep, { do: 'comment' }>): Promise<void> {
    const commentAnnotations = times(step.threads, () => {
      const token = this.#newToken();
      const annotationId = `thread-${token.slice(1, -1)}`;
      this.#seen(step.from, { annotationId }, this.system.now);
      return { annotationId, commentData: [commentOf(step, token)] };
    });
    await this.#ok('/v2/commentannotations/add', { documentId: step.document, commentAnnotations });
  }

  async #readNotifications({ user, document }: { readonly user: string; readonly document: string }): Promise<void> {
    if (this.#isHidden(document, user)) return;
    const entries: any[] = await this.#ok('/v2/notifications/get', {
      documentId: document,
      userId: user,
      pageSize: 50,
    });
    if (entries.length === 0) return;
    await this.#ok('/v2/notifications/update', {
      documentId: document,
      notifications: entries.map(({ id }) => ({ id, readByUserIds: [user] })),
    });
    for (const entry of entries)
      for (const token of JSON.stringify(entry).match(/#\d+#/g) ?? []) this.#read.add(`${user} ${token}`);
  }

  /** Gives the new events to the real system and to the model. */
  async #consumeEvents(): Promise<void> {
    const { apiKey } = this.#customer;
    const events = (await occurredEvents(this.#engine, apiKey)).filter(({ eventId }) => !this.#consumed.has(eventId));
    for (const event of events) {
      this.#consumed.add(event.eventId);
      this.#addToModel(event);
      await this.system.consume(event);
      // A second time changes nothing.
      if (this.#consumed.size % 3 === 0) await this.system.consume(event);
    }
  }

  #addToModel({ event, createdAt, documentId = '', payload }: OccurredEvent): void {
    const { audience, data } = payload as any;
    if (!audience || (event !== 'comment.add' && event !== 'comment_annotation.add')) return;
    const { annotationId, comments } = data.commentAnnotation;
    const text = JSON.stringify(data.targetComment ?? comments);
    const token = /#\d+#/.exec(text)?.[0] ?? '';
    const from: string = audience.actorId;
    const level = (userId: string) => this.#levels.get(userId) ?? 'ALL';
    const userIds = recipientsOf(audience, 'email', {
      levelsOf: (userId) => ({ inbox: 'ALL', email: level(userId), slack: 'ALL' }),
      maySee: (userId) => !this.#isHidden(documentId, userId),
      documentId,
      location: undefined,
    });
    const byAddress = new Map(userIds.toReversed().map((userId) => [addressOf(userId), userId]));
    byAddress.delete(addressOf(from));
    const activity = { token, from, document: documentId, annotationId, at: createdAt };
    this.#activities.set(token, { ...activity, userIds: [...byAddress.values()], addressed: audience.addressed });
    // A document that is deleted and added again is another document.
    const { documentKey } = audience.thread;
    this.#model.add({ ...activity, document: documentKey }, [...byAddress.values()], this.#settings);
  }

  #isSuppressed(userId: string, token: string): boolean {
    const activity = this.#activities.get(token);
    if (!activity) return true;
    const { annotationId, document, at, addressed } = activity;
    const level = this.#levels.get(userId) ?? 'ALL';
    return (
      this.#deleted.has(token) ||
      this.#read.has(`${userId} ${token}`) ||
      (this.#seenAt.get(`${userId} ${annotationId}`) ?? -1) > at ||
      this.#isHidden(document, userId) ||
      level === 'NONE' ||
      (level === 'MINE' && !addressed.includes(userId))
    );
  }

  #noteSuppressed(): void {
    for (const { token, userIds } of this.#activities.values())
      for (const userId of userIds) if (this.#isSuppressed(userId, token)) this.#suppressed.add(`${userId} ${token}`);
  }

  #isHidden(document: string, userId: string): boolean {
    return document === PRIVATE && this.#removed.has(userId);
  }

  #seen(userId: string, { annotationId }: Pick<Thread, 'annotationId'>, at: number): void {
    const key = `${userId} ${annotationId}`;
    this.#seenAt.set(key, Math.max(at, this.#seenAt.get(key) ?? -1));
  }

  #forget(name: string): void {
    for (const { token } of this.#threads.get(name)?.comments ?? []) this.#deleted.add(token);
    this.#threads.delete(name);
  }

  #newToken(): string {
    return `#${100 + this.#tokens++}#`;
  }

  async #storedEntries(): Promise<string[]> {
    const tokens = await this.#tokensOfEvents();
    const entries = await this.storedOf(WaitingEntryEntity.type);
    const tenant = this.#customer.apiKey;
    const organization = await this.system.table.get(OrganizationEntity, { tenant, organizationId: 'acme' });
    const of = { tenant, organizationKey: organization!.internalId, channel: 'email' as const };
    const userOf = new Map(users.map(({ userId }) => [WaitingEntryEntity.partition({ ...of, userId }), userId]));
    return entries.map(({ PK, eventId }) => `${userOf.get(PK)} ${tokens.get(eventId)}`);
  }

  async #tokensOfEvents(): Promise<Map<string, string>> {
    const events = await occurredEvents(this.#engine, this.#customer.apiKey);
    return new Map(
      events.map(({ eventId, payload }) => {
        const { targetComment, commentAnnotation } = payload.data as any;
        return [eventId, /#\d+#/.exec(JSON.stringify(targetComment ?? commentAnnotation?.comments ?? ''))?.[0] ?? ''];
      }),
    );
  }

  async #wakeTimes(): Promise<{ userId: string; wakeAt: number }[]> {
    const jobs = await this.system.jobs();
    return jobs.map(({ data, notBefore, dueAt }) => ({ userId: data.userId, wakeAt: notBefore ?? dueAt }));
  }

  /** The activities of sent digests that are only counted, by user and activity. */
  async #countedOnly(): Promise<ReadonlySet<string>> {
    if (this.#sent.every(({ more }) => more === 0)) return new Set();
    const tokens = await this.#tokensOfEvents();
    const digests = (await this.system.stored()).filter(
      ({ about, status }) => about.kind === 'digest' && status === 'SENT',
    );
    return new Set(
      digests.flatMap(({ about }) =>
        about.eventIds.length > 30
          ? about.eventIds.map((eventId: string) => `${about.userId} ${tokens.get(eventId)}`)
          : [],
      ),
    );
  }
}

/** A full minute and second, because queues delay by whole seconds. */
const START = Math.ceil(Date.now() / HOUR) * HOUR;

function nameOf({ document, thread }: { readonly document: string; readonly thread: string }): string {
  return `${document} ${thread}`;
}

function commentOf({ from, to }: { readonly from: string; readonly to: readonly string[] }, token: string): object {
  return {
    commentText: `Text ${token}`,
    from: { userId: from },
    taggedUserContacts: to.map((userId) => ({ userId })),
    triggerNotification: true,
  };
}

function batchOf(window: ModelWindow | undefined): object {
  if (!window) return { isEnabled: false };
  return { isEnabled: true, batchWindowSeconds: window.seconds, maxActivities: window.max ?? 50 };
}
