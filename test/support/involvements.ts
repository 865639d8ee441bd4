import { involvedUserIds, type Thread } from '../../lib/comments/rules/threads.ts';
import { type Involvement, InvolvementEntity } from '../../lib/content/involvements.ts';
import { itemsOf } from './content.ts';
import type { Customer } from './customer.ts';
import type { Engine } from './engine.ts';
import { storedOrganizationScope } from './storedScope.ts';

/**
 * Returns the involvements of a user in the organization `acme`, sorted. Each is a list of the kind, the id, the
 * comment id (if any), and whether the user created the record.
 */
export async function involvements(engine: Engine, customer: Customer, userId: string): Promise<unknown[][]> {
  const user = { ...(await storedOrganizationScope(customer)), userId };
  const PK = InvolvementEntity.partition(user);
  const own = (await itemsOf(engine, customer, 'Involvement')).filter((item) => item.PK === PK);
  return own
    .map((item) => {
      const { id, commentId, made } = item;
      const kind = ['comment', 'reaction', 'recording', 'notification'].find(
        (each) => InvolvementEntity.key({ ...user, ...(item as Involvement), kind: each }).SK === item.SK,
      );
      return [kind, id, ...(commentId === undefined ? [] : [commentId]), made];
    })
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/**
 * Returns the involvements in the organization `acme` as sorted texts: `<user> made <thread>/<comment>` of the author
 * of a comment, and `<user> in <thread>/<comment>` of another user. The user is undefined if no thread involves it.
 */
export async function involvementsOf(engine: Engine, customer: Customer): Promise<string[]> {
  const scope = await storedOrganizationScope(customer);
  const threads = (await itemsOf(engine, customer, 'Thread')) as unknown as Thread[];
  const userIds = new Map(
    threads.flatMap(involvedUserIds).map((userId) => [InvolvementEntity.partition({ ...scope, userId }), userId]),
  );
  return (await itemsOf(engine, customer, 'Involvement'))
    .map(({ PK, id, commentId, made }) => `${userIds.get(PK)} ${made ? 'made' : 'in'} ${id}/${commentId}`)
    .sort();
}
