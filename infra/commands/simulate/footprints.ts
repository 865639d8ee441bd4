/**
 * Capacity units by partition, for a call, and for an event with its delivery. Two tests assert these values:
 * test/integration/table/callFootprints and test/integration/webhooks/eventFootprint.
 */
import type { MixedPath } from '../load/mix.ts';

/**
 * What a partition belongs to. `tenant` is an API key, `endpoint` a webhook endpoint, `item` a single event or call.
 */
export type Scope = 'account' | 'tenant' | 'document' | 'user' | 'endpoint' | 'item';

export interface Footprint {
  /** `table` or the index, and the pattern of the partition key, such as `gsi3 T#PENDING#<n>`. */
  readonly partitions: string;
  readonly scope: Scope;
  /**
   * The number of partitions with this pattern for one `scope`. The units below are for all of them together, and
   * spread evenly.
   */
  readonly shards: number;
  readonly read: number;
  readonly written: number;
}

const organization = 'table T#<tenant>#ORGANIZATION#<organization>';
const one = { shards: 1, read: 1, written: 0 } as const;
/** All organizations of an API key. Every call of the mix reads the item of its organization here. */
export const ORGANIZATIONS = 'table T#<tenant>#ORGANIZATIONS';
const organizations: Footprint = { ...one, partitions: ORGANIZATIONS, scope: 'tenant' };
const documents: Footprint = { ...one, partitions: `${organization}#DOCUMENTS`, scope: 'tenant' };
const contacts: Footprint = { ...one, partitions: `${organization}#CONTACTS#<organization>`, scope: 'tenant' };
const threads: Footprint = { ...one, partitions: `${organization}#DOCUMENT#<document>#THREADS`, scope: 'document' };
const threadId: Footprint = { ...one, partitions: `${organization}#RECORD#thread#<thread>`, scope: 'document' };
const profile: Footprint = { ...one, partitions: 'table T#<tenant>#USER#<user>', scope: 'user' };
const member: Footprint = { ...one, partitions: `${organization}#USER#<user>`, scope: 'user' };

/** Without the reads of credentials, which functions cache, and without the writes of an `Idempotency-Key`. */
export const callFootprints: Readonly<Record<MixedPath, readonly Footprint[]>> = {
  '/v2/commentannotations/get': [organizations, documents, threads],
  '/v2/commentannotations/comments/add': [
    organizations,
    documents,
    threadId,
    { ...threads, written: 4 },
    { ...member, read: 0, written: 2 },
  ],
  '/v2/organizations/documents/get': [organizations, documents],
  '/v2/users/get': [organizations, contacts, profile],
  '/v2/auth/permissions/get': [organizations, profile, member, documents],
  '/v2/organizations/documents/update': [organizations, { ...documents, written: 1 }],
};

/** An event of 2 kB with one delivery, in batches of ten, without the reads of the request that publishes the event. */
export const eventFootprint: readonly Footprint[] = [
  { partitions: 'table T#<tenant>#EVENT#<event>', scope: 'item', shards: 1, read: 3, written: 7 },
  { partitions: 'gsi3 T#PENDING#<n>', scope: 'account', shards: 128, read: 0, written: 2 },
  { partitions: 'gsi4 T#<tenant>#EVENTS#<n>', scope: 'tenant', shards: 16, read: 0, written: 1 },
  { partitions: 'table T#<tenant>', scope: 'tenant', shards: 1, read: 0.1, written: 0 },
  { partitions: 'table T#<tenant>#WEBHOOK_ENDPOINTS', scope: 'tenant', shards: 1, read: 0.2, written: 0 },
  { partitions: 'table T#<tenant>#CONFIG', scope: 'tenant', shards: 1, read: 0.6, written: 0 },
  {
    partitions: 'table T#<tenant>#ENDPOINT_RUNTIME#<endpoint>',
    scope: 'endpoint',
    shards: 1,
    read: 0.1,
    written: 0,
  },
  { partitions: 'gsi4 T#<tenant>#ENDPOINT#<endpoint>#<n>', scope: 'endpoint', shards: 8, read: 0, written: 1 },
];
