import * as z from 'zod';
import { Id, optional } from '../../shared/schema.ts';
import { resourceTypes } from './access.ts';

/**
 * An organization, folder or document in a request of `auth/permissions/add` or `auth/permissions/remove`. `organizationId` is
 * required for folders and documents.
 */
export const NamedResource = z.object({ type: z.enum(resourceTypes), id: Id, organizationId: optional(Id) }).check(
  z.refine(({ type, organizationId }) => type === 'organization' || organizationId !== undefined, {
    path: ['organizationId'],
    error: 'is required for folders and documents',
  }),
);
