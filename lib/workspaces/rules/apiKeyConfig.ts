import * as z from 'zod';
import { dict, distinct } from '../../shared/collections.ts';
import { list, optional } from '../../shared/schema.ts';
import { accessTypes, defaultAccessType } from '../../directory/rules/access.ts';
import { HeaderSecret, merge } from './mergeConfig.ts';

export const aiProviders = ['openai', 'anthropic', 'gemini'] as const;

/**
 * There are no plans here: the service runs in its owner's account, and nothing is metered or locked. Clients of such APIs
 * expect the field, so it says that.
 */
export const planInfo = { type: 'selfHosted' } as const;

/** A customer's key of an AI provider: sealed, and as much of it as answers show. Both are empty when it is to be removed. */
export const StoredAiKey = z.object({ sealedKey: z.string(), displayText: z.string() });

/** The configuration of an API key (facts C1) as it is stored. */
export const ApiKeyConfig = z.object({
  defaultDocumentAccessType: z.enum(accessTypes),
  isPrivateCommentsEnabled: z.boolean(),
  requireJwtToken: z.boolean(),
  requireAutoOrgUser: z.boolean(),
  /** By provider. */
  aiKeys: z.record(z.string(), StoredAiKey),
});
export type ApiKeyConfig = z.output<typeof ApiKeyConfig>;

/** What may be sent to change it; fields that do not exist are refused here. */
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

/** AI models as answers show them: which providers have a key, and its end. */
export const AiModelsResponse = z.record(z.string(), z.object({ displayText: z.string() }));

/** What a configuration that was never made reads as. */
export const initialApiKeyConfig: ApiKeyConfig = {
  defaultDocumentAccessType: defaultAccessType,
  isPrivateCommentsEnabled: false,
  requireJwtToken: false,
  requireAutoOrgUser: false,
  aiKeys: {},
};

/** The configuration after an update, its AI keys sealed by provider; what was not sent keeps its value. */
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
/** A shorter key would be half given away. */
const SHORTEST_SHOWN = 16;

/** `****a1b2`: the end of a key, by which its owner knows it; nothing of one that is short. */
export function maskKey(key: string): string {
  return key.length < SHORTEST_SHOWN ? '****' : `****${key.slice(-SHOWN_CHARACTERS)}`;
}

/** The AI keys of some providers as answers show them. */
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
