import type { Settings } from '../../stacks/settings.ts';

/** The settings whose values differ from a deployment's: here there is no operator to create workspaces or to verify an address with SES, no model and no domain. */
export const assemblySettings: Partial<Settings> = {
  workspaceCreation: 'open',
  mailFrom: 'no-reply@example.com',
  embeddingModel: 'lexical',
  domainName: undefined,
  certificateArn: undefined,
};
