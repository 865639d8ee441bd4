import * as z from 'zod';
import { defineEntity, type Entity, type EntityDefinition } from '../../lib/table/entity.ts';

/** Defines an entity in the partition of its tenant. */
export function tenantEntity<S extends z.ZodRawShape, K>(
  type: string,
  fields: S,
  sk: (key: K) => readonly string[],
  more: Partial<EntityDefinition<z.ZodObject<S>, { tenant: string }, K>> = {},
): Entity<z.output<z.ZodObject<S>>, { tenant: string }, K> {
  return defineEntity({
    type,
    version: 1,
    scope: 'tenant',
    ownedBy: 'tenant',
    purpose: 'An item of these tests',
    schema: z.object(fields),
    pk: ({ tenant }: { tenant: string }) => [tenant],
    sk,
    ...more,
  });
}
