import type { SecretBox, SecretOwner } from '../crypto/secretBox.ts';
import type { AgentVersion } from './rules/agents.ts';
import type { Behaviour, Version } from './rules/configuration.ts';
import { hideSecrets, revealSecrets } from './rules/secrets.ts';

const secretsOf = (tenant: string, agentId: string): SecretOwner => ({ tenant, purpose: 'agentSecrets', id: agentId });

/** What is stored of what a version says: its secrets are taken out and encrypted together. */
export async function sealVersion(
  box: SecretBox,
  tenant: string,
  agentId: string,
  { behaviour, metadata }: Version,
): Promise<Pick<AgentVersion, 'behaviour' | 'metadata' | 'secrets'>> {
  const { shown, secrets } = hideSecrets(behaviour);
  return {
    behaviour: JSON.stringify(shown),
    ...(metadata && { metadata: JSON.stringify(metadata) }),
    ...(secrets.length > 0 && { secrets: await box.seal(JSON.stringify(secrets), secretsOf(tenant, agentId)) }),
  };
}

/** What a stored version says, its secrets in their places. */
export async function openVersion(
  box: SecretBox,
  tenant: string,
  agentId: string,
  { behaviour, metadata, secrets }: AgentVersion,
): Promise<Version> {
  const shown = JSON.parse(behaviour) as Behaviour;
  const opened =
    secrets === undefined
      ? []
      : (JSON.parse(await box.open(secrets, secretsOf(tenant, agentId))) as (string | number)[]);
  return {
    behaviour: revealSecrets(shown, opened),
    metadata: metadata === undefined ? undefined : (JSON.parse(metadata) as Version['metadata']),
  };
}
