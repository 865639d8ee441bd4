import { hash } from 'node:crypto';
import * as z from 'zod';
import { ApiError } from '../shared/errors.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { readAll } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insertOrReplace, replace, type Table } from '../table/table.ts';
import { AllowedDomainsEntity } from './allowedDomains.ts';
import { addDomains } from './rules/domains.ts';

export const MAX_DOMAIN_REQUESTS = 500;
const LIFETIME_SECONDS = 90 * 24 * 60 * 60;

export const domainRequestStatuses = ['pending', 'accepted', 'rejected'] as const;

const Schema = z.object({
  id: z.string(),
  domain: z.string(),
  clientDocumentId: z.string(),
  organizationId: z.string(),
  requestedAt: z.number(),
  status: z.enum(domainRequestStatuses),
});
export type DomainRequest = z.output<typeof Schema>;

export const DomainRequestEntity = defineEntity({
  type: 'DomainRequest',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The request to allow a domain, for 90 days',
  schema: Schema,
  pk: (of: { tenant: string }) => [of.tenant, 'DOMAIN_REQUESTS'],
  sk: (key: { id: string }) => [key.id],
  expiresAt: ({ requestedAt }) => Math.floor(requestedAt / 1000) + LIFETIME_SECONDS,
});

export type RequestedDomain = Pick<DomainRequest, 'domain' | 'clientDocumentId' | 'organizationId'>;

export interface DomainAnswer {
  readonly id: string;
  readonly clientDocumentId: string;
  readonly action: 'accept' | 'reject';
}

/** The same for a repeated request, so a document asks for a domain once. */
function idOf({ domain, clientDocumentId, organizationId }: RequestedDomain): string {
  const text = JSON.stringify([organizationId, clientDocumentId, domain]);
  return `domreq_${hash('sha256', text, 'base64url').slice(0, 27)}`;
}

export class DomainRequestStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The newest first. Simultaneous calls can have stored a few more than `MAX_DOMAIN_REQUESTS`. */
  async list(tenant: string): Promise<Stored<DomainRequest>[]> {
    const options = { limit: MAX_DOMAIN_REQUESTS };
    const values = await readAll((after) => this.#table.query(DomainRequestEntity, { tenant }, { ...options, after }));
    return values.toSorted((a, b) => b.requestedAt - a.requestedAt);
  }

  /** An answered request is pending again. Throws RESOURCE_EXHAUSTED for a new one above `MAX_DOMAIN_REQUESTS`. */
  async request(tenant: string, requested: RequestedDomain, now: number): Promise<void> {
    const id = idOf(requested);
    await retryOnConflict(async () => {
      const stored = await this.#table.get(DomainRequestEntity, { tenant, id });
      if (stored?.status === 'pending') return 'done';
      if (!stored && (await this.list(tenant)).length >= MAX_DOMAIN_REQUESTS)
        throw new ApiError('RESOURCE_EXHAUSTED', `An API key can have at most ${MAX_DOMAIN_REQUESTS} domain requests.`);
      const request: DomainRequest = { ...requested, id, requestedAt: now, status: 'pending' };
      return this.#table.tryWrite([insertOrReplace(DomainRequestEntity, { tenant, ...request }, stored, now)]);
    });
  }

  /**
   * Accepting adds the domain to the allowed domains, in the same transaction. The same answer again does nothing.
   * Throws NOT_FOUND for an unknown request or another document, FAILED_PRECONDITION for another answer, and
   * RESOURCE_EXHAUSTED for a domain too many.
   */
  async answer(tenant: string, { id, clientDocumentId, action }: DomainAnswer): Promise<void> {
    const status = action === 'accept' ? 'accepted' : 'rejected';
    await retryOnConflict(async () => {
      const [request, allowed] = await Promise.all([
        this.#table.get(DomainRequestEntity, { tenant, id }),
        action === 'accept' ? this.#table.get(AllowedDomainsEntity, { tenant }) : undefined,
      ]);
      if (request?.clientDocumentId !== clientDocumentId)
        throw new ApiError('NOT_FOUND', 'Domain request does not exist');
      if (request.status === status) return 'done';
      if (request.status !== 'pending')
        throw new ApiError('FAILED_PRECONDITION', `The domain request is ${request.status} already`, {
          details: { status: request.status },
        });
      const { domains, changed } = addDomains(allowed?.domains ?? [], action === 'accept' ? [request.domain] : []);
      return this.#table.tryWrite([
        replace(DomainRequestEntity, { tenant, ...request, status }, request._r),
        ...(changed.length > 0 ? [insertOrReplace(AllowedDomainsEntity, { tenant, domains }, allowed)] : []),
      ]);
    });
  }
}

export const domainRequests = /* @__PURE__ */ storeCapability(DomainRequestStore, ['GetItem', 'Query', 'PutItem']);
