import { type Settings, STACK } from '../../settings/settings.ts';

/**
 * Returns the settings of the local run that differ from those of a deployment. The local run has no operator, so
 * anyone may create workspaces, and the sender address needs no verification. It has no models and no domain. With an
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
