/**
 * The consumption of calls of the mix, and of events with their deliveries, in each partition of the table. Two tests measure it:
 * test/integration/table/callFootprints and test/integration/webhooks/eventFootprint.
 */
import type { MixedPath } from '../load/mix.ts';

/**
 * Which data a partition holds: that of the whole account, of an API key, of a document, of a user, or of a webhook endpoint.
 * `item`: a partition of one event or one call.
 */
export type Scope = 'account' | 'tenant' | 'document' | 'user' | 'endpoint' | 'item';

/** The consumption of one call or one event in the partitions of one kind. */
export interface Footprint {
  /** The index and the key with placeholders, such as `gsi3 T#DUE#<n>`. */
  readonly partitions: string;
  readonly scope: Scope;
  /** The number of such partitions in the scope. */
  readonly shards: number;
  /** The units per call or event. */
  readonly read: number;
  readonly written: number;
}

const organization = 'table T#<tenant>#ORGANIZATION#<organization>';
const one = { shards: 1, read: 1, written: 0 } as const;
/** The partition of the organizations of an API key. All calls of an organization read the same item of it. */
export const ORGANIZATIONS = 'table T#<tenant>#ORGANIZATIONS';
const organizations: Footprint = { ...one, partitions: ORGANIZATIONS, scope: 'tenant' };
const documents: Footprint = { ...one, partitions: `${organization}#DOCUMENTS`, scope: 'tenant' };
const contacts: Footprint = { ...one, partitions: `${organization}#CONTACTS#<organization>`, scope: 'tenant' };
const threads: Footprint = { ...one, partitions: `${organization}#DOCUMENT#<document>#THREADS`, scope: 'document' };
const threadId: Footprint = { ...one, partitions: `${organization}#RECORD#thread#<thread>`, scope: 'document' };
const profile: Footprint = { ...one, partitions: 'table T#<tenant>#USER#<user>', scope: 'user' };
const member: Footprint = { ...one, partitions: `${organization}#USER#<user>`, scope: 'user' };

/** The consumption of a warm call, which reads no credentials and has no `Idempotency-Key`. */
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

/** The consumption of an event of two kilobytes with one delivery, in batches of ten, without the reads of publishing. */
export const eventFootprint: readonly Footprint[] = [
  { partitions: 'table T#<tenant>#EVENT#<event>', scope: 'item', shards: 1, read: 3, written: 10 },
  { partitions: 'gsi3 T#PENDING#<n>', scope: 'account', shards: 128, read: 0, written: 2 },
  { partitions: 'gsi4 T#<tenant>#EVENTS#<n>', scope: 'tenant', shards: 16, read: 0, written: 1 },
  { partitions: 'table T#<tenant>', scope: 'tenant', shards: 1, read: 0.1, written: 0 },
  { partitions: 'table T#<tenant>#WEBHOOK_ENDPOINTS', scope: 'tenant', shards: 1, read: 0.2, written: 0 },
  { partitions: 'table T#<tenant>#CONFIG', scope: 'tenant', shards: 1, read: 0.2, written: 0 },
  {
    partitions: 'table T#<tenant>#ENDPOINT_RUNTIME#<endpoint>',
    scope: 'endpoint',
    shards: 1,
    read: 0.1,
    written: 0,
  },
  { partitions: 'gsi4 T#<tenant>#ENDPOINT#<endpoint>#<n>', scope: 'endpoint', shards: 8, read: 0, written: 1 },
];
