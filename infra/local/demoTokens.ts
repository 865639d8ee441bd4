import { createClient, type Methods, ServiceError } from '../../lib/client/index.ts';
import { demoDocument, demoEditor, type DemoUser, demoUsers } from './console/demoDocument.ts';
import type { DemoCredentials } from './demoWorkspace.ts';

const TEXT = 'Open this page in a second window as the other user, and write together.\n';

/**
 * Returns the function that makes user tokens for the demo page. The first token also creates the demo document. The tokens
 * contain no grants, so a user whose permission is removed loses access.
 */
export function demoTokens(credentials: DemoCredentials): (user: DemoUser) => Promise<string> {
  const { headerPrefix, ownerEmail: _, ...options } = credentials;
  const client = createClient({ ...options, serviceName: headerPrefix.slice('x-'.length, -1) });
  let documentCreation: Promise<void> | undefined;
  // The document is created once. After an error, the next call tries again.
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

/** Creates the demo document unless it exists, gives the users access, and turns notifications on. */
async function createDocument(client: Methods): Promise<void> {
  if (await hasEditor(client)) return;
  const { organizationId, documentId } = demoDocument;
  await client.v2.organizations.documents.add({
    organizationId,
    createOrganization: true,
    documents: [{ documentId, documentName: 'Welcome' }],
  });
  // Everybody may open a public document. Access to the demo ends with the permission.
  await client.v2.organizations.documents.access.update({
    organizationId,
    documentIds: [documentId],
    accessType: 'restricted',
  });
  const resource = { type: 'document', id: documentId, organizationId, accessRole: 'editor' } as const;
  for (const { userId } of demoUsers)
    await client.v2.auth.permissions.add({ user: { userId }, permissions: { resources: [resource] } });
  await client.v2.workspace.notificationconfig.update({ useNotificationService: true });
  // The editor is created last. If a step fails, the next call repeats all steps.
  await client.v2.crdt.add({ ...demoDocument, ...demoEditor, type: 'text', data: TEXT });
}

async function hasEditor(client: Methods): Promise<boolean> {
  try {
    const { data } = await client.v2.crdt.get({ ...demoDocument, editorId: demoEditor.editorId });
    return data.length > 0;
  } catch (error) {
    // A missing organization is INVALID_ARGUMENT.
    if (error instanceof ServiceError && ['NOT_FOUND', 'INVALID_ARGUMENT'].includes(error.status)) return false;
    throw error;
  }
}
