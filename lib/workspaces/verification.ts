import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { tokenHash } from '../crypto/tokenHash.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../http/entities.ts';
import { ApiError } from '../shared/errors.ts';
import { defineEntity } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { remove, replace, type Table, upsert } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { AllowedDomainsEntity } from './allowedDomains.ts';
import { type OwnerEmail, OwnerEmailEntity, WorkspaceApiKeyEntity, workspacesOf } from './entities.ts';
import { isLinkToken, isLive, linkValidUntil, type LoginLink } from './rules/verification.ts';
import { emailKey, MAX_API_KEYS } from './rules/workspaces.ts';

const TOKEN_BYTES = 32;

/** The key has the hash of the token, which only the mail contains. Verifying the owner deletes the link. */
export const LoginLinkEntity = defineEntity({
  type: 'LoginLink',
  version: 1,
  scope: 'service',
  ownedBy: 'expiry',
  purpose: "A mailed link that verifies an owner's e-mail address, once and for 30 minutes",
  schema: z.object({ workspaceId: z.string(), email: z.string(), continueUrl: z.string(), validUntil: z.number() }),
  pk: (of: { hash: string }) => ['LOGIN_LINK', of.hash],
  sk: (_key: unknown) => ['LINK'],
  expiresAt: ({ validUntil }) => Math.ceil(validUntil / 1000),
});

function linkKey(token: string): { hash: string } {
  return { hash: Buffer.from(tokenHash(token)).toString('base64url') };
}

export interface LinkOwner {
  readonly workspaceId: string;
  /** Spelled as in the request that created the workspace. */
  readonly email: string;
  /**
   * Of all API keys of the first workspace. Everybody can create further workspaces for an address, and could then
   * choose where its links lead.
   */
  readonly allowedDomains: readonly string[];
}

export class LoginLinkIssuer {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async findOwner(address: string): Promise<LinkOwner | undefined> {
    const ownerAddress = await this.#table.get(OwnerEmailEntity, { email: emailKey(address) });
    if (!ownerAddress) return undefined;
    const [workspace, { values: apiKeys }] = await Promise.all([
      this.#table.get(WorkspaceEntity, ownerAddress),
      this.#table.query(WorkspaceApiKeyEntity, ownerAddress, { prefix: ['KEY'], limit: MAX_API_KEYS }),
    ]);
    const configs = await this.#table.getMany(
      AllowedDomainsEntity,
      apiKeys.map(({ apiKey }) => ({ tenant: apiKey })),
    );
    return (
      workspace && {
        workspaceId: ownerAddress.workspaceId,
        email: workspace.owner.email,
        allowedDomains: configs.flatMap((config) => config?.domains ?? []),
      }
    );
  }

  async issue(link: Omit<LoginLink, 'validUntil'>, now: number): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await this.#table.write([upsert(LoginLinkEntity, { ...linkKey(token), ...link, validUntil: linkValidUntil(now) })]);
    return token;
  }
}

export class OwnerVerifier {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Undefined if the token is unknown, used or expired. */
  async findLink(token: string, now: number): Promise<LoginLink | undefined> {
    const link = isLinkToken(token) ? await this.#table.get(LoginLinkEntity, linkKey(token)) : undefined;
    return link && isLive(link, now) ? link : undefined;
  }

  /**
   * Verifies all workspaces of the address. Returns the link, or undefined if the token is unknown, used or expired.
   * The transaction deletes the link, so a token works once.
   */
  async verify(token: string, now: number): Promise<LoginLink | undefined> {
    return retryOnConflict(async () => {
      const link = await this.findLink(token, now);
      const address = link && (await this.#table.get(OwnerEmailEntity, { email: emailKey(link.email) }));
      if (!link || !address) return undefined;
      const stored = await this.#table.getMany(
        WorkspaceEntity,
        workspacesOf(address).map((workspaceId) => ({ workspaceId })),
      );
      const workspaces = stored.filter((workspace) => workspace !== undefined);
      return this.#table.tryWrite(
        [
          remove(LoginLinkEntity, linkKey(token), 1),
          // A concurrent creation of a workspace conflicts with this revision, that of an API key with those below. The
          // retry of the creation makes keys without expiry.
          replace(OwnerEmailEntity, { ...address, verifiedAt: address.verifiedAt ?? now }, address._r),
          ...workspaces.map(({ verifiedAt = now, ...workspace }) =>
            replace(WorkspaceEntity, { ...workspace, verifiedAt }, workspace._r),
          ),
        ],
        link,
      );
    });
  }
}

/** Addresses that version 0.1.0 verified have the time only in their first workspace. */
export async function readVerifiedAt(table: Table, address: OwnerEmail): Promise<number | undefined> {
  return address.verifiedAt ?? (await table.get(WorkspaceEntity, address))?.verifiedAt;
}

export class OwnerStatus {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Undefined if no workspace has this owner. The first call after the verification removes the expiry of the API keys
   * and stores `reactivatedAt`. Later calls are then one read.
   */
  async isVerified(address: string, now: number): Promise<boolean | undefined> {
    const owner = await this.#table.get(OwnerEmailEntity, { email: emailKey(address) });
    if (!owner) return undefined;
    if (owner.reactivatedAt !== undefined) return true;
    if ((await readVerifiedAt(this.#table, owner)) === undefined) return false;
    for (const workspaceId of workspacesOf(owner)) await this.#reactivate(workspaceId);
    // If this write conflicts, a concurrent call has stored the time or created a workspace. While the time is missing,
    // the next call repeats the work.
    await this.#table.write([replace(OwnerEmailEntity, { ...owner, reactivatedAt: now }, owner._r)]);
    return true;
  }

  async #reactivate(workspaceId: string): Promise<void> {
    const options = { prefix: ['KEY'], limit: MAX_API_KEYS };
    const read = (after: string | undefined) =>
      this.#table.query(WorkspaceApiKeyEntity, { workspaceId }, { ...options, after });
    for await (const { values } of pages(read)) {
      const successes = await writeEach({
        table: this.#table,
        items: values,
        read: (apiKeys) => this.#table.getMany(ApiKeyEntity, apiKeys),
        decide: (_apiKey, key) => ({
          result: true,
          ops: key?.expiresAt === undefined ? [] : [replace(ApiKeyEntity, { ...key, expiresAt: undefined }, key._r)],
        }),
        conflicted: () => false,
      });
      if (successes.includes(false))
        throw new ApiError(
          'ABORTED',
          'Other requests are changing the API keys of this workspace. Send the request again.',
        );
    }
  }
}

export const issueLoginLinks = /* @__PURE__ */ storeCapability(LoginLinkIssuer, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);

export const verifyOwners = /* @__PURE__ */ storeCapability(OwnerVerifier, [
  'GetItem',
  'BatchGetItem',
  'PutItem',
  'DeleteItem',
]);

export const ownerStatus = /* @__PURE__ */ storeCapability(OwnerStatus, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);
