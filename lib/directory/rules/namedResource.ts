import * as z from 'zod';
import { Id, optional } from '../../shared/schema.ts';
import { resourceTypes } from './access.ts';

/** An organization, folder or document that a permission call names; the last two lie in an organization. */
export const NamedResource = z.object({ type: z.enum(resourceTypes), id: Id, organizationId: optional(Id) }).check(
  z.refine(({ type, organizationId }) => type === 'organization' || organizationId !== undefined, {
    path: ['organizationId'],
    error: 'is required for folders and documents',
  }),
);
