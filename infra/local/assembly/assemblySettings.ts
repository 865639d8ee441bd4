import type { Settings } from '../../stacks/settings.ts';

/**
 * Returns the settings that differ from those of a deployment. A local run has no operator who creates workspaces or verifies
 * addresses with SES. It has no embedding model and no domain.
 */
export const assemblySettings = ({ hasHeartbeat }: { readonly hasHeartbeat: boolean }): Partial<Settings> => ({
  workspaceCreation: 'open',
  mailFrom: 'no-reply@example.com',
  embeddingModel: 'lexical',
  live: 'on',
  heartbeat: hasHeartbeat ? 'on' : 'off',
  domainName: undefined,
  certificateArn: undefined,
});
