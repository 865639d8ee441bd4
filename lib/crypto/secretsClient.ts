import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { clientSettings } from '../app/sdkSettings.ts';
import { lazy } from '../shared/lazy.ts';

export const openSecrets: () => SecretsManagerClient = /* @__PURE__ */ lazy(
  () => new SecretsManagerClient(clientSettings),
);
