import * as z from 'zod';
import { accessTypes, defaultAccessType } from '../../app/rules/access.ts';
import { dict, distinct } from '../../shared/collections.ts';
import { defineSchema, list, optional } from '../../shared/schema.ts';
import { HeaderSecret, merge } from './mergeConfig.ts';
import { storedOnly } from './storedOnly.ts';

const aiProviders = ['openai', 'anthropic', 'gemini'] as const;

/** Clients expect this field, but the service has no plans. */
export const planInfo = { type: 'selfHosted' } as const;

/** Encrypted, and masked for answers. In an update, empty texts delete the key. */
export const StoredAiKey = /* @__PURE__ */ defineSchema(() =>
  z.object({ sealedKey: z.string(), displayText: z.string() }),
);

export const settingTexts = {
  enablePrivateComments: /* @__PURE__ */ storedOnly('enablePrivateComments', 'By default false.'),
  requireJwtToken: /* @__PURE__ */ storedOnly('requireJwtToken', 'By default false.'),
  requireAutoOrgUser: /* @__PURE__ */ storedOnly('requireAutoOrgUser', 'By default false.'),
  defaultDocumentAccessType:
    'The access type of new documents outside folders that have none of their own. At first `public`. Existing documents stay as they are.',
  editorVersions: 'Automatic versions of editors, see `/v2/crdt/versions/get`. Null, the default, switches them off.',
} as const;

const keepNamedText = 'By default true: named versions stay. False: they end after `keepDays` too.';

export const EditorVersions = /* @__PURE__ */ defineSchema(() =>
  z.object({
    everyMinutes: z
      .int()
      .min(5)
      .max(1440)
      .describe('While an editor changes, the service makes a version at most this often, in minutes.'),
    keepDays: z
      .int()
      .min(1)
      .max(3650)
      .describe(
        'How many days versions stay. Of automatic ones, all stay for a day, then the first of each hour for a week, and the first of each day (UTC) to the end. Versions keep the end that they had when they were made.',
      ),
    keepNamed: z.boolean().default(true).describe(keepNamedText),
  }),
);

export type EditorVersions = z.output<typeof EditorVersions>;

export const ApiKeyConfig = /* @__PURE__ */ defineSchema(() =>
  z.object({
    defaultDocumentAccessType: z.enum(accessTypes),
    isPrivateCommentsEnabled: z.boolean(),
    requireJwtToken: z.boolean(),
    requireAutoOrgUser: z.boolean(),
    aiKeys: z.record(z.string(), StoredAiKey),
    editorVersions: EditorVersions.nullish(),
  }),
);
export type ApiKeyConfig = z.output<typeof ApiKeyConfig>;

export const ApiKeyConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    editorVersions: EditorVersions.extend({
      keepNamed: optional(z.boolean())
        .transform((keepNamed = true) => keepNamed)
        .describe(keepNamedText),
    })
      .nullable()
      .optional()
      .describe(settingTexts.editorVersions),
    enablePrivateComments: optional(z.boolean()).describe(settingTexts.enablePrivateComments),
    requireJwtToken: optional(z.boolean()).describe(settingTexts.requireJwtToken),
    requireAutoOrgUser: optional(z.boolean()).describe(settingTexts.requireAutoOrgUser),
    defaultDocumentAccessType: optional(z.enum(accessTypes)).describe(settingTexts.defaultDocumentAccessType),
    aiModelApiKey: optional(
      list(
        z.object({
          provider: z.enum(aiProviders).describe('Whose key it is.'),
          customerApiKey: HeaderSecret.describe(
            storedOnly('aiModelApiKey.customerApiKey', 'The key, encrypted. An empty text removes it.'),
          ),
        }),
        aiProviders.length,
      ).check(
        z.refine((keys) => distinct(keys.map(({ provider }) => provider)).length === keys.length, {
          error: 'must name each provider once',
        }),
      ),
    ).describe('Your keys of AI providers, which are stored and have no effect yet. Keys of other providers stay.'),
  }),
);
export type ApiKeyConfigChange = z.output<typeof ApiKeyConfigChange>;

export const AiModelsResponse = /* @__PURE__ */ defineSchema(() =>
  z
    .record(
      z.string(),
      z.object({
        displayText: z.string().describe('The key masked, with its last four characters if it has at least 16.'),
      }),
    )
    .describe('The stored keys of AI providers, by provider, masked.'),
);

export const initialApiKeyConfig: ApiKeyConfig = {
  defaultDocumentAccessType: defaultAccessType,
  isPrivateCommentsEnabled: false,
  requireJwtToken: false,
  requireAutoOrgUser: false,
  aiKeys: {},
};

/** Fields that are not sent keep their values. `sentKeys` has encrypted AI keys. */
export function changeApiKeyConfig(
  stored: ApiKeyConfig = initialApiKeyConfig,
  sent: ApiKeyConfigChange,
  sentKeys: ApiKeyConfig['aiKeys'],
): ApiKeyConfig {
  const { enablePrivateComments, requireJwtToken, requireAutoOrgUser, defaultDocumentAccessType, editorVersions } =
    sent;
  const changed = merge(stored, {
    isPrivateCommentsEnabled: enablePrivateComments,
    requireJwtToken,
    requireAutoOrgUser,
    defaultDocumentAccessType,
    aiKeys: sentKeys,
  });
  const remainingKeys = Object.entries(changed.aiKeys).filter(([, { sealedKey }]) => sealedKey !== '');
  return {
    ...changed,
    aiKeys: Object.fromEntries(remainingKeys),
    ...(editorVersions !== undefined && { editorVersions }),
  };
}

const SHOWN_CHARACTERS = 4;
/** The last characters would reveal too much of a shorter key. */
const MIN_SHOWN_CHARACTERS = 16;

/** `****a1b2`, or `****` for a short key. */
export function maskKey(key: string): string {
  return key.length < MIN_SHOWN_CHARACTERS ? '****' : `****${key.slice(-SHOWN_CHARACTERS)}`;
}

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
