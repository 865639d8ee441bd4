import type { AccessRole } from '../app/rules/access.ts';
import { readDocuments } from '../directory/documents.ts';
import { readFolders } from '../directory/folders/folders.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { searchPage } from '../directory/searchPage.ts';
import type { Resource } from '../directory/users.ts';
import { type NewUser, UserWriter } from '../directory/userWriter.ts';
import { ApiError } from '../shared/errors.ts';
import { AFTER_ALL_TIMES, isoTime } from '../shared/isoTime.ts';
import { keyAfter } from '../table/keys.ts';
import type { ItemPage } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insertOrReplace, replace, type Table, type WriteOp } from '../table/table.ts';
import { InvitationEntity, pendingInvitations, recipientOf } from './entities.ts';
import { existingInvitations } from './existingInvitations.ts';
import {
  type Answer,
  answer,
  type Invitation,
  type InvitationKey,
  type InvitationType,
  invite,
  isMailPaused,
  type SentInvitation,
} from './rules.ts';

/** A count reads the keys of at most this many invitations, about 5 MB. */
export const MAX_COUNTED_INVITATIONS = 10_000;

export interface InvitationTarget {
  readonly scope: OrganizationScope;
  readonly resource: Resource;
  readonly type: InvitationType;
  readonly email: string;
}

/** `ops` is stored in the transaction of the invitation. */
interface InvitationMail {
  readonly ops: readonly WriteOp[];
}

export interface InvitationMails<M extends InvitationMail> {
  newMail(scope: OrganizationScope, invitation: Invitation): M;
  /** Whether the last mail of the invitation has ended, and cannot have been sent. */
  isUnsent(scope: OrganizationScope, invitation: Invitation): Promise<boolean>;
}

function keyOf({ type, resource, email }: InvitationTarget): InvitationKey {
  return { type, resourceKey: resource.internalId, recipient: recipientOf(email) };
}

/** An invitation as editor raises the role of an existing grant. One as viewer leaves it. */
function rolesOf(accessRole: AccessRole) {
  return { accessRole: accessRole === 'editor' ? accessRole : undefined, newGrantRole: accessRole };
}

export class InvitationStore {
  readonly #table: Table;
  readonly #users: UserWriter;

  constructor(table: Table) {
    this.#table = table;
    this.#users = new UserWriter(table);
  }

  /** Returns the mail, if one is due. `mails` is undefined if none can be sent. */
  async invite<M extends InvitationMail>(
    target: InvitationTarget,
    sent: SentInvitation,
    now: number,
    mails: InvitationMails<M> | undefined,
  ): Promise<M | undefined> {
    const { scope } = target;
    const key = keyOf(target);
    const { mail } = await retryOnConflict(async () => {
      const stored = await this.#table.get(InvitationEntity, { ...scope, ...key });
      const isUnsent = stored && isMailPaused(stored, now) && (await mails?.isUnsent(scope, stored));
      const last = isUnsent ? { ...stored, mailedAt: undefined } : stored;
      const { invitation, isMailed } = invite(key, sent, last, now, mails !== undefined);
      const due = isMailed ? mails?.newMail(scope, invitation) : undefined;
      const item = { ...scope, ...invitation };
      const ops = [insertOrReplace(InvitationEntity, item, stored, now), ...(due?.ops ?? [])];
      return this.#table.tryWrite(ops, { mail: due });
    });
    return mail;
  }

  /**
   * Access and answer are one transaction, so one of several concurrent answers wins. Throws NOT_FOUND without an
   * invitation, and FAILED_PRECONDITION after another answer or the expiry.
   */
  async answer(
    target: InvitationTarget,
    status: Answer,
    user: Pick<NewUser, 'userId' | 'profile'> | undefined,
    now: number,
  ): Promise<void> {
    const { scope, resource } = target;
    const key = keyOf(target);
    await retryOnConflict(async () => {
      const stored = await this.#table.get(InvitationEntity, { ...scope, ...key });
      if (!stored) throw new ApiError('NOT_FOUND', 'The invitation does not exist.');
      const answered = answer(stored, status, user?.userId, now);
      if (!answered) return 'done';
      const ops = [replace(InvitationEntity, { ...scope, ...answered }, stored._r)];
      if (status !== 'ACCEPTED' || !user) return this.#table.tryWrite(ops);
      const { accessRole, newGrantRole } = rolesOf(stored.accessRole);
      const added = { ...user, accessRole };
      const access = await this.#users.additionOps({ scope, resource }, added, newGrantRole, now);
      return this.#table.tryWrite([...ops, ...access]);
    });
  }

  /** Of one address or of all, in no particular order. A page can be short or empty and have a `next`. */
  async list(
    scope: OrganizationScope,
    email: string | undefined,
    options: {
      readonly limit: number;
      readonly after: string | undefined;
      readonly isMatch?: ((invitation: Invitation) => boolean) | undefined;
    },
  ): Promise<ItemPage<Invitation>> {
    const prefix = email === undefined ? [] : [recipientOf(email)];
    const { values, next } = await searchPage(async (after, count) => {
      const page = await this.#table.query(InvitationEntity, scope, { prefix, after, limit: count });
      const records = page.values.map((value) => ({ key: InvitationEntity.key({ ...scope, ...value }).SK, value }));
      return { records, next: page.next };
    }, options);
    return { values: await existingInvitations(this.#table, scope, values), next };
  }

  /**
   * At most `MAX_COUNTED_INVITATIONS`. Changes of the last moment can be missing, because it reads an index. Its keys
   * have only the internal id of the document or folder, which cannot be looked up, so invitations to a deleted one
   * count until the purge.
   */
  async countPending(scope: OrganizationScope, type: InvitationType, now: number): Promise<number> {
    const { keys } = await this.#table.queryIndex('gsi1', pendingInvitations(scope, type), {
      limit: MAX_COUNTED_INVITATIONS,
      between: [keyAfter([isoTime(now)]), AFTER_ALL_TIMES],
    });
    return keys.length;
  }
}

export const writeInvitations = /* @__PURE__ */ storeCapability(InvitationStore, ['GetItem', 'PutItem']);

export const answerInvitations = /* @__PURE__ */ storeCapability(InvitationStore, [
  readFolders,
  'GetItem',
  'BatchGetItem',
  'PutItem',
]);

export const listInvitations = /* @__PURE__ */ storeCapability(InvitationStore, [readDocuments, 'Query']);

export const countInvitations = /* @__PURE__ */ storeCapability(InvitationStore, [], ['gsi1']);
