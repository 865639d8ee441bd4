import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { accessRoles, defaultAccessRole } from '../../../../lib/app/rules/access.ts';
import { findResources } from '../../../../lib/directory/resources.ts';
import { accessFields } from '../../../../lib/directory/rules/access.ts';
import { NamedResource } from '../../../../lib/directory/rules/namedResource.ts';
import { grantAccess } from '../../../../lib/directory/userWriter.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { AccessContext, Id, limits, list, optional, UnixSeconds } from '../../../../lib/shared/schema.ts';
import { requireFuture } from '../../../../lib/shared/times.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/auth/permissions/add',
    summary: 'Grant a user access to organizations, folders and documents',
    description:
      'A grant replaces the earlier grant of the user on the same resource: role, end and access context. A user who does not exist is created. A grant on a folder opens everything in it, and one on an organization makes the user a member. An unknown organization is INVALID_ARGUMENT, an unknown folder or document is NOT_FOUND, and a disabled organization or document is FAILED_PRECONDITION; nothing is granted then. For what a user may do, call `/v2/auth/permissions/get`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      user: z.object({ userId: Id }).describe('The user who gets the grants.'),
      permissions: z
        .object({
          resources: list(
            NamedResource.safeExtend({
              accessRole: optional(z.enum(accessRoles)).describe('What the user may do there. By default `editor`.'),
              expiresAt: optional(UnixSeconds),
              context: optional(
                z.object({
                  access: AccessContext.describe(
                    'A value or a list of values for each field, such as `{ "region": ["eu", "us"] }`.',
                  ),
                }),
              ).describe(
                'What the grant adds to the access context of the user in the whole organization. Threads with a context are shown only to users who have all of its values.',
              ),
            }),
            limits.permissionIds,
          ).describe('What is granted. They can be in several organizations.'),
        })
        .describe('The grants.'),
    }),
    output: z.object({}),
    message: 'Permissions added successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { resources: findResources, users: grantAccess },
    impact: 'customers cannot give their users access',
    example: {
      data: {
        user: { userId: 'ada' },
        permissions: {
          resources: [
            {
              type: 'document',
              id: 'nda',
              organizationId: 'acme',
              accessRole: 'viewer',
              expiresAt: 1893456000,
              context: { access: { region: ['eu', 'us'] } },
            },
          ],
        },
      },
      result: {},
    },
  },
  async ({ input, caller, deps, now }) => {
    const { userId } = input.user;
    requireFuture(['permissions', 'resources'], input.permissions.resources, now / 1000);
    const [resources, [user]] = await Promise.all([
      deps.resources.require(caller.tenant, input.permissions.resources, { writable: true }),
      deps.users.find(caller.tenant, [userId]),
    ]);
    const grants = resources.map(({ scope, resource, accessRole = defaultAccessRole, expiresAt, context }) => ({
      scope,
      resource,
      accessRole,
      expiresAt,
      accessFields: context && accessFields(context.access),
    }));
    await deps.users.grant(caller.tenant, userId, user, grants, now);
    return {};
  },
);

export const handler = toLambda(endpoint);
