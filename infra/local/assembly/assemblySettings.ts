import { type Settings, STACK } from '../../settings/settings.ts';

/**
 * These settings replace those of `cdk.json`. Nobody operates the local run, so anyone may create workspaces. With an
 * address for alarms, the template says which alarms send notices.
 */
export const assemblySettings = ({ hasHeartbeat }: { readonly hasHeartbeat: boolean }): Partial<Settings> => ({
  stackName: STACK,
  workspaceCreation: 'open',
  alarmEmail: 'operator@example.com',
  alarmTopicArn: undefined,
  kmsKeyArn: undefined,
  permissionsBoundary: undefined,
  tags: undefined,
  reservedConcurrency: undefined,
  mailFrom: 'no-reply@example.com',
  mailIdentity: undefined,
  embeddingModel: 'lexical',
  claudeModelId: undefined,
  novaModelId: undefined,
  live: 'on',
  heartbeat: hasHeartbeat ? 'on' : 'off',
  disableExecuteApiEndpoint: 'off',
  domainName: undefined,
  certificateArn: undefined,
});
