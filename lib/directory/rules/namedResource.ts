import * as z from 'zod';
import { resourceTypes } from '../../app/rules/access.ts';
import { Id, optional } from '../../shared/schema.ts';

export const NamedResource = z
  .object({
    type: z.enum(resourceTypes).describe('What `id` names.'),
    id: Id.describe('The organization, folder or document, by the id that you chose.'),
    organizationId: optional(Id).describe(
      'The organization of the folder or document. Not needed for an organization.',
    ),
  })
  .check(
    z.refine(({ type, organizationId }) => type === 'organization' || organizationId !== undefined, {
      path: ['organizationId'],
      error: 'is required for folders and documents',
    }),
  );
