import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';
import { RemovalPolicy, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/**
 * Creates a secret with the value `{ "current": "1", "1": "<64 characters>" }`. To rotate the key, add a key "2" and
 * set `current` to "2". The secret outlives the stack: without the master key, sealed data cannot be read.
 */
export function createKey(scope: Construct, id: string, description: string): CfnSecret {
  const secret = new CfnSecret(scope, id, {
    description,
    generateSecretString: {
      secretStringTemplate: JSON.stringify({ current: '1' }),
      generateStringKey: '1',
      passwordLength: 64,
      excludePunctuation: true,
      includeSpace: false,
    },
  });
  secret.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason: 'A schedule would replace the keys that seal stored data. An operator rotates by adding a version.',
  });
  return secret;
}

/**
 * An operator stores the credentials after the deployment. CloudFormation does not overwrite them, because
 * `secretString` stays the same in the template.
 */
export function createCredentials(scope: Construct, id: string, description: string): CfnSecret {
  const secret = new CfnSecret(scope, id, {
    description,
    secretString: JSON.stringify({ apiKey: '', authToken: '' }),
  });
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason: 'Only the service can issue a new auth token. An operator resets the token and stores it.',
  });
  return secret;
}
