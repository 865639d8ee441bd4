import * as z from 'zod';
import { readJson } from '../../shared/jsonFields.ts';
import { Id, IsoTime, Name, OpenObject, optional } from '../../shared/schema.ts';
import { editorName } from './editors.ts';

export const versionEditor = {
  ...editorName,
  editorId: Id.describe('The editor whose versions they are.'),
};

export const VersionId = Id.describe('The version, by the id that the service gave to it.');

export const versionFields = {
  name: optional(Name).describe(
    'Your name of the version. A version with a name stays, and counts to the 200 of an editor.',
  ),
  metadata: optional(OpenObject).describe('Your own data of the version, returned with it.'),
};

export const VersionResponse = z.object({
  versionId: z.string().describe('The id of the version.'),
  createdAt: IsoTime.describe('When the version was made, in ISO 8601.'),
  name: z.string().optional().describe('The name. Absent for a version without one.'),
  metadata: z.record(z.string(), z.unknown()).optional().describe('Your own data of the version.'),
  authors: z
    .array(z.string())
    .describe(
      'The ids of the users, at most 100, whose changes came since the version before. Changes without a user count for nobody.',
    ),
  isAutomatic: z
    .boolean()
    .describe('True for a version that ends by age: made by the service, or added without a name.'),
  restoredVersionId: z
    .string()
    .optional()
    .describe('Only of a version that a restore made from the state before it: the version that was restored.'),
  expiresAt: IsoTime.optional().describe('When the version ends, in ISO 8601. Absent if it stays.'),
  bytes: z.number().describe('The stored size in bytes. Versions of the same state share it.'),
});

interface Version {
  readonly versionId: string;
  readonly createdAt: number;
  readonly name?: string | undefined;
  readonly metadata?: string | undefined;
  readonly authors: string[];
  readonly isAutomatic: boolean;
  readonly restoredVersionId?: string | undefined;
  readonly expiresAt?: number | undefined;
  readonly bytes: number;
}

export function toVersionResponse({
  versionId,
  createdAt,
  name,
  metadata,
  authors,
  isAutomatic,
  restoredVersionId,
  expiresAt,
  bytes,
}: Version): z.output<typeof VersionResponse> {
  return {
    versionId,
    createdAt: new Date(createdAt).toISOString(),
    name,
    metadata: readJson<Record<string, unknown>>(metadata),
    authors,
    isAutomatic,
    restoredVersionId,
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString(),
    bytes,
  };
}

export const exampleVersion = {
  versionId: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
  createdAt: '2026-01-01T00:00:00.000Z',
  name: 'Sent to the client',
  authors: ['ada', 'grace'],
  isAutomatic: false,
  bytes: 2048,
};
