import type { Capability } from '../../app/capability.ts';
import type { AccessType } from '../../app/rules/access.ts';
import type { SecretBox, SecretOwner } from '../../crypto/secretBox.ts';
import { WorkspaceEntity } from '../../http/entities.ts';
import { openTable } from '../../table/table.ts';
import {
  ApiKeyConfig,
  type ApiKeyConfigChange,
  type EditorVersions,
  initialApiKeyConfig,
  maskKey,
} from '../rules/apiKeyConfig.ts';
import { ConfigStore, defineConfig } from './configStore.ts';

export const ApiKeyConfigEntity = defineConfig(
  'ApiKeyConfig',
  'Settings of an API key, such as the access type of new documents, with encrypted AI keys',
  { schema: ApiKeyConfig, initial: initialApiKeyConfig },
  2,
);

const aiKeyOf = (tenant: string, provider: string): SecretOwner => ({ tenant, purpose: 'aiModelKey', id: provider });

/** Returns the keys by provider. Both texts of a key are empty if the request deletes it. */
export async function sealAiKeys(
  box: SecretBox,
  tenant: string,
  sent: ApiKeyConfigChange['aiModelApiKey'] = [],
): Promise<ApiKeyConfig['aiKeys']> {
  const sealed = await Promise.all(
    sent.map(
      async ({ provider, customerApiKey }) =>
        [
          provider,
          customerApiKey === ''
            ? { sealedKey: '', displayText: '' }
            : {
                sealedKey: await box.seal(customerApiKey, aiKeyOf(tenant, provider)),
                displayText: maskKey(customerApiKey),
              },
        ] as const,
    ),
  );
  return Object.fromEntries(sealed);
}

export const newDocumentAccess: Capability<(tenant: string) => Promise<AccessType>> = {
  grants: [{ resource: 'table', actions: ['GetItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => {
    const configs = new ConfigStore(openTable(env), ApiKeyConfigEntity);
    return async (tenant) => ((await configs.get(tenant)) ?? initialApiKeyConfig).defaultDocumentAccessType;
  },
};

export const workspaceOwner: Capability<(workspaceId: string) => Promise<string>> = {
  grants: [{ resource: 'table', actions: ['GetItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => async (workspaceId) => {
    const workspace = await openTable(env).get(WorkspaceEntity, { workspaceId });
    if (!workspace) throw new Error(`Workspace ${workspaceId} has an API key but does not exist`);
    return workspace.owner.email;
  },
};

/** The setting `editorVersions`. Undefined if it is switched off. */
export const versionSettings: Capability<(tenant: string) => Promise<EditorVersions | undefined>> = {
  grants: [{ resource: 'table', actions: ['GetItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => {
    const configs = new ConfigStore(openTable(env), ApiKeyConfigEntity);
    return async (tenant) => (await configs.get(tenant))?.editorVersions ?? undefined;
  },
};
