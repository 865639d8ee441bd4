import * as z from 'zod';
import { dict, distinct } from '../../shared/collections.ts';
import { list, optional } from '../../shared/schema.ts';
import { accessTypes, defaultAccessType } from '../../directory/rules/access.ts';
import { HeaderSecret, merge } from './mergeConfig.ts';

export const aiProviders = ['openai', 'anthropic', 'gemini'] as const;

/**
 * The service has no plans: it runs in its operator's account. Clients expect the field, so it has a fixed value.
 */
export const planInfo = { type: 'selfHosted' } as const;

/** A customer's encrypted key of an AI provider, and its masked text for answers. Both are empty when the key is to be deleted. */
export const StoredAiKey = z.object({ sealedKey: z.string(), displayText: z.string() });

/** The configuration of an API key, as it is stored. */
export const ApiKeyConfig = z.object({
  defaultDocumentAccessType: z.enum(accessTypes),
  isPrivateCommentsEnabled: z.boolean(),
  requireJwtToken: z.boolean(),
  requireAutoOrgUser: z.boolean(),
  /** By provider. */
  aiKeys: z.record(z.string(), StoredAiKey),
});
export type ApiKeyConfig = z.output<typeof ApiKeyConfig>;

/** The request of an update. Unknown fields are INVALID_ARGUMENT. */
export const ApiKeyConfigChange = z.strictObject({
  enablePrivateComments: optional(z.boolean()),
  requireJwtToken: optional(z.boolean()),
  requireAutoOrgUser: optional(z.boolean()),
  defaultDocumentAccessType: optional(z.enum(accessTypes)),
  aiModelApiKey: optional(
    list(z.strictObject({ provider: z.enum(aiProviders), customerApiKey: HeaderSecret }), aiProviders.length).check(
      z.refine((keys) => distinct(keys.map(({ provider }) => provider)).length === keys.length, {
        error: 'must name each provider once',
      }),
    ),
  ),
});
export type ApiKeyConfigChange = z.output<typeof ApiKeyConfigChange>;

/** The providers with a key in answers, each with its masked text. */
export const AiModelsResponse = z.record(z.string(), z.object({ displayText: z.string() }));

/** The value of a configuration that was never set. */
export const initialApiKeyConfig: ApiKeyConfig = {
  defaultDocumentAccessType: defaultAccessType,
  isPrivateCommentsEnabled: false,
  requireJwtToken: false,
  requireAutoOrgUser: false,
  aiKeys: {},
};

/** Returns the configuration after an update. `sentKeys` are the encrypted AI keys of the request by provider. Fields that are not sent keep their value. */
export function changeApiKeyConfig(
  stored: ApiKeyConfig = initialApiKeyConfig,
  sent: ApiKeyConfigChange,
  sentKeys: ApiKeyConfig['aiKeys'],
): ApiKeyConfig {
  const { enablePrivateComments, requireJwtToken, requireAutoOrgUser, defaultDocumentAccessType } = sent;
  const changed = merge(stored, {
    isPrivateCommentsEnabled: enablePrivateComments,
    requireJwtToken,
    requireAutoOrgUser,
    defaultDocumentAccessType,
    aiKeys: sentKeys,
  });
  const kept = Object.entries(changed.aiKeys).filter(([, { sealedKey }]) => sealedKey !== '');
  return { ...changed, aiKeys: Object.fromEntries(kept) };
}

const SHOWN_CHARACTERS = 4;
/** The mask of a shorter key would reveal too much of it. */
const SHORTEST_SHOWN = 16;

/** Returns the masked text of a key, such as `****a1b2`; `****` for a short key. */
export function maskKey(key: string): string {
  return key.length < SHORTEST_SHOWN ? '****' : `****${key.slice(-SHOWN_CHARACTERS)}`;
}

/** Returns the masked keys of some providers. */
export function toAiKeysResponse(
  aiKeys: ApiKeyConfig['aiKeys'],
  providers: readonly string[] = Object.keys(aiKeys),
): z.output<typeof AiModelsResponse> {
  return dict(
    providers.flatMap((provider) =>
      aiKeys[provider] ? [[provider, { displayText: aiKeys[provider].displayText }] as const] : [],
    ),
  );
}
