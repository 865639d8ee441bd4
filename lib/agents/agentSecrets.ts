import type { SecretBox, SecretOwner } from '../crypto/secretBox.ts';
import type { AgentVersion } from './rules/agents.ts';
import type { Behaviour, Version } from './rules/configuration.ts';
import { hideSecrets, revealSecrets } from './rules/secrets.ts';

const ownerOf = (tenant: string, agentId: string): SecretOwner => ({ tenant, purpose: 'agentSecrets', id: agentId });

/** Returns a version as it is stored: `__redacted__` replaces each secret, and all secrets are encrypted as one text. */
export async function sealVersion(
  box: SecretBox,
  tenant: string,
  agentId: string,
  { behaviour, metadata }: Version,
): Promise<Pick<AgentVersion, 'behaviour' | 'metadata' | 'secrets'>> {
  const { redacted, secrets } = hideSecrets(behaviour);
  return {
    behaviour: JSON.stringify(redacted),
    ...(metadata && { metadata: JSON.stringify(metadata) }),
    ...(secrets.length > 0 && { secrets: await box.seal(JSON.stringify(secrets), ownerOf(tenant, agentId)) }),
  };
}

export async function openVersion(
  box: SecretBox,
  tenant: string,
  agentId: string,
  { behaviour, metadata, secrets }: AgentVersion,
): Promise<Version> {
  const secretsText = secrets === undefined ? '[]' : await box.open(secrets, ownerOf(tenant, agentId));
  return {
    behaviour: revealSecrets(JSON.parse(behaviour) as Behaviour, JSON.parse(secretsText) as (string | number)[]),
    metadata: metadata === undefined ? undefined : (JSON.parse(metadata) as Version['metadata']),
  };
}
