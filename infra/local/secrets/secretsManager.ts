import { errorAnswer, jsonAnswer } from '../iam/awsResponse.ts';
import type { Service } from '../iam/awsService.ts';
import type { Secret } from './secrets.ts';

/** Returns a local Secrets Manager. It finds the template's secrets by ARN or name. Each secret has one version. */
export function secretsManager(secrets: readonly Secret[]): Service {
  const find = (id: unknown) => secrets.find(({ arn, name }) => id === arn || id === name);
  return {
    accesses: (operation, { SecretId }) => [
      { action: `secretsmanager:${operation}`, resource: find(SecretId)?.arn ?? String(SecretId) },
    ],
    answer({ operation, input }) {
      if (operation !== 'GetSecretValue')
        return errorAnswer(400, 'UnknownOperationException', `The local Secrets Manager has no ${operation}`);
      const secret = find(input.SecretId);
      if (!secret)
        return errorAnswer(400, 'ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
      return jsonAnswer({
        ARN: secret.arn,
        Name: secret.name,
        SecretString: secret.value,
        VersionId: 'local',
        VersionStages: ['AWSCURRENT'],
      });
    },
  };
}
