import * as z from 'zod';
import { defineEntity } from '../table/entity.ts';
import { apiKeyTypes } from './rules/workspaces.ts';

/** The key is in lower case. */
export const OwnerEmailEntity = defineEntity({
  type: 'OwnerEmail',
  version: 2,
  scope: 'service',
  ownedBy: 'workspace',
  purpose: "The workspaces of an owner's e-mail address",
  schema: z.object({
    email: z.string(),
    /** The first workspace. A login link may lead only to this service and to the allowed domains of this workspace. */
    workspaceId: z.string(),
    otherWorkspaceIds: z.array(z.string()).optional(),
    /** When the owner verified the address, epoch ms. Missing before that, or if version 0.1.0 verified the address. */
    verifiedAt: z.number().optional(),
    /** When the expiry of the API keys was removed after the verification, epoch ms. */
    reactivatedAt: z.number().optional(),
  }),
  pk: (of: { email: string }) => ['OWNER', of.email],
  sk: (_key: unknown) => ['WORKSPACE'],
});

export type OwnerEmail = Parameters<typeof OwnerEmailEntity.toItem>[0];

export function workspacesOf({ workspaceId, otherWorkspaceIds = [] }: OwnerEmail): string[] {
  return [workspaceId, ...otherWorkspaceIds];
}

export const WorkspaceApiKeyEntity = defineEntity({
  type: 'WorkspaceApiKey',
  version: 1,
  scope: 'workspace',
  ownedBy: 'workspace',
  purpose: 'An API key in the list of its workspace. The list is sorted by age',
  schema: z.object({ apiKey: z.string(), apiKeyName: z.string(), type: z.enum(apiKeyTypes), createdAt: z.number() }),
  pk: (of: { workspaceId: string }) => [of.workspaceId],
  sk: (key: { apiKey: string }) => ['KEY', key.apiKey],
});

export const AuthTokenEntity = defineEntity({
  type: 'AuthToken',
  version: 1,
  scope: 'tenant',
  ownedBy: 'workspace',
  purpose: 'An auth token of an API key, with its encrypted text',
  schema: z.object({
    tokenId: z.string(),
    name: z.string(),
    domains: z.array(z.string()),
    sealed: z.string(),
    createdAt: z.number(),
  }),
  pk: (of: { apiKey: string }) => [of.apiKey],
  sk: (key: { tokenId: string }) => ['TOKEN', key.tokenId],
});
