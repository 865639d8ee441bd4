import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableOrganization } from '../../../lib/content/documentScope.ts';
import { readDocuments } from '../../../lib/directory/documents.ts';
import { readFolders } from '../../../lib/directory/folders/folders.ts';
import { organizationScope } from '../../../lib/directory/organizationScope.ts';
import { requireResource } from '../../../lib/directory/resources.ts';
import { UserWithRole } from '../../../lib/directory/rules/users.ts';
import { type ScopedResource, writeUsers } from '../../../lib/directory/userWriter.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { distinctBy } from '../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, ItemResults } from '../../../lib/shared/results.ts';
import { documentOrFolder, Id, limits, list, optional } from '../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/users/update',
    summary: 'Change the profiles of users, and their roles on an organization, document or folder',
    description:
      'A user has the same profile in all organizations. Fields that are not sent stay, and so do contact lists. A user who does not exist, or whose new `email` cannot receive mail, fails in its own result (`success: false`). An unknown document or folder is NOT_FOUND. A disabled organization or document refuses the call with FAILED_PRECONDITION. To add users, call `/v2/users/add`.',
    auth: 'apiKey',
    kind: 'write',
    input: z
      .object({
        organizationId: optional(Id).describe(
          'The organization whose roles change. Required unless `options.all` is true.',
        ),
        documentId: optional(Id).describe('Changes the roles on this document instead of those in the organization.'),
        folderId: optional(Id).describe('Changes the roles on this folder instead of those in the organization.'),
        options: optional(
          z.object({
            all: optional(z.boolean()).describe('Applies the call to all organizations. By default false.'),
            allDocuments: optional(z.boolean()).describe(
              'Applies the call to all documents of the organization. By default false.',
            ),
          }),
        ).describe('Widens the call. Since profiles are the same everywhere, the effect is that roles cannot be sent.'),
        users: list(UserWithRole, limits.list),
      })
      .check(
        documentOrFolder,
        z.refine(({ organizationId, options }) => organizationId !== undefined || options?.all === true, {
          path: ['organizationId'],
          error: 'is required unless options.all is true',
        }),
        z.refine(
          ({ documentId, folderId, options }) =>
            !isWide(options) || (documentId === undefined && folderId === undefined),
          { path: ['options'], error: 'must not ask for all together with documentId or folderId' },
        ),
        z.refine(
          ({ users, options }) => !isWide(options) || users.every(({ accessRole }) => accessRole === undefined),
          {
            path: ['users'],
            error:
              'must not have an accessRole together with options.all or options.allDocuments: a role is set on one named resource',
          },
        ),
      ),
    output: ItemResults,
    message: batchMessage('user', 'updated', 'User(s) processed successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findWritableOrganization, folders: readFolders, documents: readDocuments, users: writeUsers },
    impact: 'customers cannot change names, addresses, pictures and roles of their users',
    example: {
      data: { organizationId: 'acme', users: [{ userId: 'ada', name: 'Ada King', accessRole: 'viewer' }] },
      result: { data: { ada: { success: true, id: 'usr_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'User updated.' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const users = distinctBy(input.users, ({ userId }) => userId).map(({ userId, accessRole, ...profile }) => ({
      userId,
      accessRole,
      profile,
    }));
    const resource = input.organizationId === undefined ? undefined : await findResource(input.organizationId);
    const results = await deps.users.update(caller.tenant, resource, users, now);
    return { data: byIdOf(users, ({ userId }) => userId, results) };

    async function findResource(organizationId: string): Promise<ScopedResource> {
      const scope = organizationScope(
        caller.tenant,
        await deps.findWritableOrganization(caller.tenant, organizationId),
      );
      return { scope, resource: await requireResource(deps, scope, input, { writable: true }) };
    }
  },
);

function isWide(
  options: { readonly all?: boolean | undefined; readonly allDocuments?: boolean | undefined } | undefined,
): boolean {
  return options?.all === true || options?.allDocuments === true;
}

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
