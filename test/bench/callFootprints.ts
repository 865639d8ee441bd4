/** Measures which partitions of the table are used by the calls that `npm run load` makes. */
import type { MixedPath } from '../../infra/commands/load/mix.ts';
import { newCustomer } from '../support/customer.ts';
import type { Units } from '../support/memoryTable.ts';
import { startMemoryWorld } from './deliveries/world.ts';

const organizationId = 'acme';
const documentId = 'nda';
const annotationId = 'talk';
const user = { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' };
const comment = { commentText: 'A comment', from: user };
/** Each call is sent twice, because the first call also reads the credentials. Only the second one is measured. */
const REPETITIONS = 2;

/** Returns the data of each call. `number` differs for each repetition, so that every update changes something. */
const requests: Readonly<Record<MixedPath, (number: number) => object>> = {
  '/v2/commentannotations/get': () => ({ organizationId, documentIds: [documentId] }),
  '/v2/commentannotations/comments/add': () => ({ organizationId, documentId, annotationId, commentData: [comment] }),
  '/v2/organizations/documents/get': () => ({ organizationId, documentIds: [documentId] }),
  '/v2/users/get': () => ({ organizationId, userIds: [user.userId] }),
  '/v2/auth/permissions/get': () => ({ organizationId, userIds: [user.userId], documentIds: [documentId] }),
  '/v2/organizations/documents/update': (number) => ({
    organizationId,
    documents: [{ documentId, documentName: `Name ${number}` }],
  }),
};

/**
 * Returns the capacity units of the last repetition of each call, by path and by partition. Placeholders replace the ids
 * in the names of partitions.
 */
export async function measureCallFootprints(): Promise<Readonly<Record<string, Readonly<Record<string, Units>>>>> {
  const { table, cloud, stop } = await startMemoryWorld();
  const { apiKey, ok, untyped } = await newCustomer();
  await ok('/v2/organizations/add', { organizations: [{ organizationId }] });
  await ok('/v2/users/add', { organizationId, users: [user] });
  await ok('/v2/organizations/documents/add', { organizationId, documents: [{ documentId }] });
  await ok('/v2/commentannotations/add', {
    organizationId,
    documentId,
    commentAnnotations: [{ annotationId, commentData: [comment] }],
  });
  const withPlaceholders = (partition: string) =>
    partition
      .replace(apiKey, '<tenant>')
      .replace(/\borg_\w+/g, '<organization>')
      .replace(/\bdoc_\w+/g, '<document>')
      .replace(`#${annotationId}`, '#<thread>')
      .replace(`#${user.userId}`, '#<user>');
  const measured: Record<string, Record<string, Units>> = {};
  for (const [path, dataOf] of Object.entries(requests)) {
    for (let number = 0; number < REPETITIONS; number++) {
      const { partitions } = await table.measure(() => untyped(path, dataOf(number)));
      measured[path] = Object.fromEntries([...partitions].map(([name, units]) => [withPlaceholders(name), units]));
      await cloud.drain();
    }
  }
  await stop();
  return measured;
}
