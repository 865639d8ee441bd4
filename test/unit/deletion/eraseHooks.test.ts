import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';
import type { ContentKind } from '../../../lib/content/kind.ts';
import { eraseHooks } from '../../../lib/deletion/userWalk.ts';
import { contentKinds } from '../../../lib/kinds/contentKinds.ts';
import { entities } from '../../../lib/table/entity.ts';

for (const source of globSync('lib/**/*.ts', { cwd: projectDir })) {
  const text = readFileSync(join(projectDir, source), 'utf8');
  if (/\bdefine(Entity|Config)\(/.test(text)) await import(join(projectDir, source));
}

/** For each entity type without a hook: the function that erases the user from it. */
const erasedBy: Readonly<Record<string, string>> = {
  Contact: 'purgeUserAccess',
  Grant: 'purgeUserAccess',
  NotificationSettings: 'purgeUserAccess',
  UserGroupMember: 'purgeUserAccess',
  Involvement: 'removeFromRecords',
  WaitingEntry: 'purgeWaitingEntries',
  ChatUser: 'eraseUsersStep',
  User: 'eraseUsersStep',
};

/** The entity types that need no erasure, by the reason. They name no user, or name one only by id. */
const notErased: Readonly<Record<string, readonly string[]>> = {
  'of a document, without users': [
    'CommentAddition',
    'DeletedThread',
    'Document',
    'DocumentMigration',
    'DomainRequest',
    'Editor',
    'EditorPart',
    'EditorVersionPart',
    'LiveChannel',
    'LiveStateCount',
    'RecordId',
    'RenamedDocument',
    'ThreadCounter',
  ],
  'of an organization, without users': [
    'Folder',
    'FolderChange',
    'FolderRevocation',
    'FolderEntry',
    'JudgmentVector',
    'Organization',
    'UserGroup',
  ],
  'has only the ids of users and hashes of their addresses, until the job or the record ends': ['Erasure', 'Job'],
  'of agents, which are no users': [
    'Agent',
    'AgentCount',
    'AgentGroup',
    'AgentRun',
    'AgentVersion',
    'BuiltInAgentChange',
    'EmbeddingState',
  ],
  'has only ids, and expires within three hours': ['LiveHints', 'MailQuota', 'ThreadAccessChange', 'UserHint'],
  'has only ids, and expires after a day': ['DocumentSession', 'UserSession'],
  'expires after 24 hours': ['Idempotency'],
  'has only ids, and expires after 49 hours': ['AccessRemoval', 'HiddenCommentDeletion'],
  'expires after 30 days, or when the mail that waits for it has left': [
    'Attempt',
    'Delivery',
    'Event',
    'EventPayload',
    'FirstAttempts',
    'Mail',
  ],
  'of the customer and its workspace': [
    'ActivityConfig',
    'AdvancedWebhookConfig',
    'AllowedDomains',
    'ApiKey',
    'ApiKeyConfig',
    'AuthToken',
    'BasicWebhookConfig',
    'ChatConfig',
    'ChatPause',
    'EmailConfig',
    'EndpointHealth',
    'EndpointSlots',
    'LoginLink',
    'MailPause',
    'NotificationConfig',
    'OwnerEmail',
    'PermissionProviderConfig',
    'RateBucket',
    'RateLimit',
    'WebhookEndpoint',
    'WebhookEndpointUid',
    'WebhookSettings',
    'Workspace',
    'WorkspaceApiKey',
  ],
};

describe('an erasure of users', () => {
  const typesOf = (hooks: readonly { readonly entities: readonly { readonly type: string }[] }[]) =>
    hooks.flatMap(({ entities: erased }) => erased.map(({ type }) => type));
  const hooked = typesOf(contentKinds.flatMap(({ erase }: ContentKind) => (erase === 'none' ? [] : [erase])));
  const covered = [...hooked, ...Object.keys(erasedBy), ...Object.values(notErased).flat()];

  test('handles every entity type once: by a hook, by another step, or as free of user data', () => {
    const types = entities().map(({ type }) => type);
    expect(covered.toSorted()).toEqual(types.toSorted());
  });

  // The progress of a running job has the place of a hook in this order, which must therefore stay.
  test('erases notifications before the comments that they quote, and first what other users see', () => {
    expect(typesOf(eraseHooks())).toEqual([
      ...['Notification', 'Activity', 'Recording', 'Reaction', 'Thread', 'Comment', 'Presence', 'LiveState'],
      ...['EditorVersion', 'EditorUpdate', 'ThreadViews'],
    ]);
    expect(typesOf(eraseHooks(false))).toEqual(['Presence', 'Notification']);
  });

  test('names only functions that the erasure calls', () => {
    const source = ['eraseUsersStep', 'userWalk']
      .map((name) => readFileSync(join(projectDir, `lib/deletion/${name}.ts`), 'utf8'))
      .join('\n');
    for (const name of Object.values(erasedBy)) expect(source).toContain(name);
  });
});
