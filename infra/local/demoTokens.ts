import { createClient, type Methods, ServiceError } from '../../lib/client/index.ts';
import { demoDocument, demoEditor, type DemoUser, demoUsers } from './console/demoDocument.ts';
import type { DemoCredentials } from './demoWorkspace.ts';

const TEXT = 'Open this page in a second window as the other user, and write together.\n';

/**
 * Returns a function that creates user tokens without permissions of their own: a user without permission on the demo
 * document cannot open it. Its first call creates the document if it does not exist.
 */
export function demoTokens(credentials: DemoCredentials): (user: DemoUser) => Promise<string> {
  const { headerPrefix, ownerEmail: _, ...options } = credentials;
  const client = createClient({ ...options, serviceName: headerPrefix.slice('x-'.length, -1) });
  let documentCreation: Promise<void> | undefined;
  // All calls share one creation. If it fails, the next call tries again.
  const ensureDocument = () =>
    (documentCreation ??= createDocument(client).catch((error: unknown) => {
      documentCreation = undefined;
      throw error;
    }));
  return async ({ userId, name, email }) => {
    await ensureDocument();
    const { data } = await client.v2.auth.generate_token({
      userId,
      userProperties: { name, email },
      permissions: { resources: [] },
    });
    return data.token;
  };
}

async function createDocument(client: Methods): Promise<void> {
  if (await hasEditor(client)) return;
  const { organizationId, documentId } = demoDocument;
  await client.v2.organizations.documents.add({
    organizationId,
    createOrganization: true,
    documents: [{ documentId, documentName: 'Welcome' }],
  });
  // Everybody can open a public document, also after a permission was removed.
  await client.v2.organizations.documents.access.update({
    organizationId,
    documentIds: [documentId],
    accessType: 'restricted',
  });
  const resource = { type: 'document', id: documentId, organizationId, accessRole: 'editor' } as const;
  for (const { userId } of demoUsers)
    await client.v2.auth.permissions.add({ user: { userId }, permissions: { resources: [resource] } });
  await client.v2.workspace.notificationconfig.update({ useNotificationService: true });
  await client.v2.workspace.apikeyconfig.update({ editorVersions: { everyMinutes: 5, keepDays: 30 } });
  // The last step: without the editor, the next call repeats all steps.
  await client.v2.crdt.add({ ...demoDocument, ...demoEditor, type: 'text', data: TEXT });
}

async function hasEditor(client: Methods): Promise<boolean> {
  try {
    const { data } = await client.v2.crdt.get({ ...demoDocument, editorId: demoEditor.editorId });
    return data.length > 0;
  } catch (error) {
    // INVALID_ARGUMENT: the organization does not exist.
    if (error instanceof ServiceError && ['NOT_FOUND', 'INVALID_ARGUMENT'].includes(error.status)) return false;
    throw error;
  }
}
