import type { Settings } from '../../stacks/settings.ts';

/**
 * The settings that differ from those of a deployment. A local run has no operator who creates workspaces or verifies
 * addresses with SES. It has no embedding model and no domain.
 */
export const assemblySettings: Partial<Settings> = {
  workspaceCreation: 'open',
  mailFrom: 'no-reply@example.com',
  embeddingModel: 'lexical',
  live: 'on',
  domainName: undefined,
  certificateArn: undefined,
};
