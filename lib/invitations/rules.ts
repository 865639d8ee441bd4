import * as z from 'zod';
import { type AccessRole, accessRoles, type ResourceType } from '../app/rules/access.ts';
import { ApiError } from '../shared/errors.ts';
import { MailAddress } from '../shared/mailAddress.ts';
import {
  defineNamedSchema,
  defineSchema,
  Id,
  Name,
  optional,
  PageSize,
  PageToken,
  UserProfile,
} from '../shared/schema.ts';

export const invitationTypes = ['org_user', 'doc_user', 'folder_user'] as const;
export type InvitationType = (typeof invitationTypes)[number];

export const resourceTypeOf: Readonly<Record<InvitationType, ResourceType>> = {
  org_user: 'organization',
  doc_user: 'document',
  folder_user: 'folder',
};

export const answers = ['ACCEPTED', 'REJECTED', 'WITHDRAWN'] as const;
export type Answer = (typeof answers)[number];
const storedStatuses = ['PENDING', ...answers] as const;
const shownStatuses = [...storedStatuses, 'EXPIRED'] as const;

const DAY = 24 * 60 * 60_000;
export const PENDING_MILLISECONDS = 30 * DAY;
export const KEPT_MILLISECONDS = 90 * DAY;
/** A repeated invitation is mailed at most once in this time, also after an answer. */
const MAIL_PAUSE_MILLISECONDS = 10 * 60_000;

const texts = {
  status:
    'The state: `PENDING`, the answer, or `EXPIRED` if 30 days have passed since the last invitation without an answer.',
  acceptUrl: 'The link in the mail.',
  organizationName: 'The name of the organization in the mail.',
  documentName: 'The name of the document in the mail of `doc_user`. With another type, no mail has it.',
  folderName: 'The name of the folder in the mail of `folder_user`. With another type, no mail has it.',
  accessRole: 'The role that the user gets.',
} as const;

const Inviter = /* @__PURE__ */ defineSchema(() =>
  z.object({
    email: MailAddress.describe('The address of the user.'),
    userId: Id.describe('The user, by the id that your client knows.'),
    clientUserId: Id.describe('The user, by the id that you chose. The name in the mail is from this profile.'),
  }),
);

/** Times are epoch ms. */
export const InvitationRecord = z.object({
  type: z.enum(invitationTypes),
  /** The internal id of the organization, document or folder. */
  resourceKey: z.string(),
  /** `recipientOf` the address, so that keys and stored mails have no address. */
  recipient: z.string(),
  email: z.string(),
  documentId: z.string().optional(),
  folderId: z.string().optional(),
  organizationName: z.string().optional(),
  documentName: z.string().optional(),
  folderName: z.string().optional(),
  invitedBy: z.object({ email: z.string(), userId: z.string(), clientUserId: z.string() }).optional(),
  accessRole: z.enum(accessRoles),
  acceptUrl: z.string().optional(),
  status: z.enum(storedStatuses),
  createdAt: z.number(),
  /** The last invitation. */
  invitedAt: z.number(),
  expiresAt: z.number(),
  answeredAt: z.number().optional(),
  acceptedBy: z.string().optional(),
  /** When the last mail was planned. */
  mailedAt: z.number().optional(),
});
export type Invitation = z.output<typeof InvitationRecord>;

export type InvitationKey = Pick<Invitation, 'type' | 'resourceKey' | 'recipient'>;

export type SentInvitation = Pick<
  Invitation,
  'email' | 'documentId' | 'folderId' | 'organizationName' | 'documentName' | 'folderName' | 'invitedBy' | 'acceptUrl'
> & { readonly accessRole?: AccessRole | undefined };

export function statusOf({ status, expiresAt }: Pick<Invitation, 'status' | 'expiresAt'>, now: number) {
  return status === 'PENDING' && expiresAt <= now ? 'EXPIRED' : status;
}

export function isMailPaused(stored: Pick<Invitation, 'mailedAt'> | undefined, now: number): boolean {
  return (stored?.mailedAt ?? -Infinity) + MAIL_PAUSE_MILLISECONDS > now;
}

/**
 * A pending invitation is renewed. After its end, a new one begins. The time of the last mail stays in both cases, so a
 * withdrawal in between does not permit another mail. Leave `mailedAt` out of `stored` if the last mail was not sent.
 */
export function invite(
  key: InvitationKey,
  { accessRole = 'viewer', ...sent }: SentInvitation,
  stored: Invitation | undefined,
  now: number,
  canMail: boolean,
): { readonly invitation: Invitation; readonly isMailed: boolean } {
  const isRenewal = stored !== undefined && statusOf(stored, now) === 'PENDING';
  const isMailed = canMail && !isMailPaused(stored, now);
  return {
    isMailed,
    invitation: {
      ...key,
      ...sent,
      accessRole,
      status: 'PENDING',
      createdAt: isRenewal ? stored.createdAt : now,
      invitedAt: now,
      expiresAt: now + PENDING_MILLISECONDS,
      mailedAt: isMailed ? now : stored?.mailedAt,
    },
  };
}

/**
 * Returns undefined if the invitation already has this answer. An acceptance must be of the same user. Throws
 * FAILED_PRECONDITION after any other answer, or when the invitation has expired.
 */
export function answer(
  stored: Invitation,
  status: Answer,
  userId: string | undefined,
  now: number,
): Invitation | undefined {
  const before = statusOf(stored, now);
  if (before === 'PENDING')
    return {
      ...stored,
      status,
      answeredAt: now,
      ...(status === 'ACCEPTED' && { acceptedBy: userId }),
    };
  if (before === status && (status !== 'ACCEPTED' || stored.acceptedBy === userId)) return undefined;
  const who = before === 'ACCEPTED' && status === 'ACCEPTED' ? ' by another user' : '';
  throw new ApiError(
    'FAILED_PRECONDITION',
    `The invitation is ${before}${who}, so it cannot become ${status}. To invite the user again, call /v2/users/invite/add.`,
    { details: { status: before } },
  );
}

export interface ErasedRecipients {
  readonly userIds: ReadonlySet<string>;
  /** `recipientOf` the addresses in the profiles of the users. */
  readonly recipients?: ReadonlySet<string> | undefined;
  /** Epoch ms. Later invitations stay. */
  readonly removedAt: number;
}

/** Returns undefined for an invitation of an erased user, and the same object if nothing changes. */
export function eraseFromInvitation<I extends Invitation>(
  invitation: I,
  { userIds, recipients, removedAt }: ErasedRecipients,
): I | undefined {
  const { recipient, acceptedBy = '', invitedBy, invitedAt, answeredAt } = invitation;
  if (invitedAt > removedAt) return invitation;
  if (recipients?.has(recipient) || (userIds.has(acceptedBy) && (answeredAt ?? 0) <= removedAt)) return undefined;
  const isInviter = invitedBy && (userIds.has(invitedBy.clientUserId) || userIds.has(invitedBy.userId));
  return isInviter ? { ...invitation, invitedBy: undefined } : invitation;
}

interface NamedResource {
  readonly type: InvitationType;
  readonly documentId?: string | undefined;
  readonly folderId?: string | undefined;
}

const fieldOf: Readonly<Partial<Record<InvitationType, 'documentId' | 'folderId'>>> = {
  doc_user: 'documentId',
  folder_user: 'folderId',
};

const requireNamedResource = /* @__PURE__ */ defineSchema(() =>
  z.check<NamedResource>(({ value, issues }) => {
    for (const field of ['documentId', 'folderId'] as const) {
      const isSent = value[field] !== undefined;
      const isNeeded = fieldOf[value.type] === field;
      if (isSent === isNeeded) continue;
      const message = isNeeded ? `is required with type ${value.type}` : `must not be given with type ${value.type}`;
      issues.push({ code: 'custom', input: value[field], path: [field], message });
    }
  }),
);

const target = /* @__PURE__ */ defineSchema(() => ({
  email: MailAddress.describe('The address of the invited user. Case makes no difference.'),
  organizationId: Id,
  type: z
    .enum(invitationTypes)
    .describe('What the user is invited to: the organization, one document of it, or one folder of it.'),
  documentId: optional(Id).describe('The document, by the id that you chose. Only with `doc_user`, which needs it.'),
  folderId: optional(Id).describe('The folder, by the id that you chose. Only with `folder_user`, which needs it.'),
}));

export const InvitationRequest = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      ...target,
      organizationName: optional(Name).describe(`${texts.organizationName} The stored name is not used.`),
      documentName: optional(Name).describe(`${texts.documentName} The stored name is not used.`),
      folderName: optional(Name).describe(`${texts.folderName} The stored name is not used.`),
      invitedBy: optional(Inviter).describe('The user who invites. The mail has the name, or else the address.'),
      accessRole: optional(z.enum(accessRoles)).describe(
        'The role that the user gets with ACCEPTED. By default `viewer`.',
      ),
      acceptUrl: optional(z.string().max(2_048)).describe(
        'The link in the mail: an http(s) URL on an allowed domain of the API key. Without it, the mail has no link.',
      ),
    })
    .check(requireNamedResource),
);

/** Two spellings of an address that differ only in case are the same mailbox. */
const isSameAddress = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

export const InvitationAnswer = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      ...target,
      status: z
        .enum(answers)
        .describe('The answer: `ACCEPTED` or `REJECTED` of the user, or `WITHDRAWN` of those who invited.'),
      user: optional(
        UserProfile.extend({
          userId: Id,
          email: MailAddress.describe('The address of the invitation. Case makes no difference.'),
        }),
      ).describe(
        'The invited user. Required with ACCEPTED: the profile gets the sent fields. With REJECTED it is optional and changes nothing.',
      ),
      authToken: optional(z.string().min(1).max(10_240)).describe(
        'A user token of `user.userId`, from `/v2/auth/generate_token`. Required and allowed together with `user`.',
      ),
    })
    .check(
      requireNamedResource,
      z.check(({ value: { status, email, user, authToken }, issues }) => {
        const report = (path: string[], message: string) =>
          issues.push({ code: 'custom', input: undefined, path, message });
        for (const [field, sent] of [['user', user] as const, ['authToken', authToken] as const]) {
          if (sent !== undefined && status === 'WITHDRAWN') report([field], 'must not be given with status WITHDRAWN');
          if (sent === undefined && status === 'ACCEPTED') report([field], 'is required with status ACCEPTED');
        }
        if (status === 'REJECTED' && (user === undefined) !== (authToken === undefined))
          report(user ? ['authToken'] : ['user'], `is required together with ${user ? 'user' : 'authToken'}`);
        if (user && !isSameAddress(user.email, email)) report(['user', 'email'], 'must be the email of the invitation');
      }),
    ),
);

const paged = /* @__PURE__ */ defineSchema(() => ({
  pageSize: optional(PageSize).describe('The largest number of items in the answer. By default 100.'),
  pageToken: optional(PageToken),
}));

export const SentInvitationsQuery = /* @__PURE__ */ defineSchema(() =>
  z.object({
    organizationId: Id,
    email: optional(MailAddress).describe('Lists only invitations of this address. Case makes no difference.'),
    isPendingUsersOnly: optional(z.boolean()).describe('Lists only `PENDING` invitations. By default false.'),
    ...paged,
  }),
);

export const ReceivedInvitationsQuery = /* @__PURE__ */ defineSchema(() =>
  z.object({
    organizationId: Id,
    email: MailAddress.describe('The address of the invited user. Case makes no difference.'),
    status: optional(z.enum(shownStatuses)).describe('Lists only invitations in this state.'),
    type: optional(z.enum(invitationTypes)).describe('Lists only invitations of this type.'),
    ...paged,
  }),
);

export const PendingCountQuery = /* @__PURE__ */ defineSchema(() =>
  z.object({
    organizationId: Id,
    type: z.enum(invitationTypes).describe('The type of the invitations that are counted.'),
  }),
);

export const InvitationResponse = /* @__PURE__ */ defineNamedSchema('Invitation', () =>
  z
    .object({
      organizationId: z.string().describe('The organization, by the id that you chose.'),
      email: z.string().describe('The address of the invited user.'),
      type: z.enum(invitationTypes).describe('What the user is invited to.'),
      status: z.enum(shownStatuses).describe(texts.status),
      documentId: z.string().optional().describe('The document, by the id that you chose. Only of `doc_user`.'),
      folderId: z.string().optional().describe('The folder, by the id that you chose. Only of `folder_user`.'),
      organizationName: z.string().optional().describe(texts.organizationName),
      documentName: z.string().optional().describe(texts.documentName),
      folderName: z.string().optional().describe(texts.folderName),
      invitedBy: z
        .object({
          email: z.string().describe('The address of the user.'),
          userId: z.string().describe('The user, by the id that your client knows.'),
          clientUserId: z.string().describe('The user, by the id that you chose.'),
        })
        .optional()
        .describe('The user who invites. Absent after the data of this user was deleted.'),
      accessRole: z.enum(accessRoles).describe(texts.accessRole),
      acceptUrl: z.string().optional().describe(texts.acceptUrl),
      createdAt: z.number().describe('When the user was invited first, in epoch milliseconds.'),
      invitedAt: z.number().describe('When the user was invited last, in epoch milliseconds.'),
      expiresAt: z.number().describe('When the invitation expires without an answer, in epoch milliseconds.'),
      answeredAt: z.number().optional().describe('When the answer came, in epoch milliseconds.'),
      acceptedBy: z.string().optional().describe('The user who accepted, by the id that you chose.'),
    })
    .describe('An invitation.'),
);
export type InvitationResponse = z.output<typeof InvitationResponse>;

export function toResponse(invitation: Invitation, organizationId: string, now: number): InvitationResponse {
  return InvitationResponse.parse({ ...invitation, organizationId, status: statusOf(invitation, now) });
}
