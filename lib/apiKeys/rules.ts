import * as z from 'zod';
import { changeChatConfig, type ChatConfig, ChatConfigChange, requireChannelUrl } from '../chat/rules/chatConfig.ts';
import { defaultEmailTriggers } from '../events/rules/catalogue.ts';
import type { AddressPolicy } from '../net/addressPolicy.ts';
import { requireAllowedUrls } from '../net/allowedUrls.ts';
import { parseHttpUrl } from '../net/httpUrl.ts';
import { invalid } from '../shared/errors.ts';
import { MailAddress } from '../shared/mailAddress.ts';
import { defineSchema, ignoredField, list, Name, optional, withRefusal } from '../shared/schema.ts';
import { BasicConfigChange, type BasicWebhookConfig, changeBasicConfig } from '../webhooks/rules/basicConfig.ts';
import { type ApiKeyConfig, changeApiKeyConfig, settingTexts } from '../workspaces/rules/apiKeyConfig.ts';
import { Domain, LOOPBACK_ADDRESS, MAX_DOMAINS_PER_CALL } from '../workspaces/rules/domains.ts';
import { changeEmailConfig, type EmailConfig, EmailConfigChange } from '../workspaces/rules/emailConfig.ts';
import { type Change, merge } from '../workspaces/rules/mergeConfig.ts';
import {
  changeNotificationConfig,
  defaultNotificationTriggers,
  type NotificationConfig,
} from '../workspaces/rules/notificationConfig.ts';
import { ApiKeyType } from '../workspaces/rules/workspaces.ts';

const ofOperators = ignoredField('only operators of other deployments of this interface set it');
/** Published client libraries can send these fields. */
export const operatorFields = {
  planInfo: ofOperators,
  customPlanInfo: ofOperators,
  customPlanInfoData: ofOperators,
  workspaceId: ofOperators,
  isSuperWorkspace: ofOperators,
  platform: ofOperators,
};

export const newApiKeyFields = {
  ownerEmail: MailAddress.describe(
    'The e-mail address of the owner of the workspace, as a check. Case does not matter.',
  ),
  type: ApiKeyType,
  apiKeyName: optional(Name).describe('A title for people. By default `Testing API Key` or `Production API Key`.'),
  createAuthToken: optional(z.boolean()).describe(
    'True creates an auth token and returns it. By default one is created and not returned. False creates none.',
  ),
};

/** Settings that are not sent have the defaults of their configuration. */
export const newApiKeySettings = {
  allowedDomains: optional(list(Domain, MAX_DOMAINS_PER_CALL, 0)).describe(
    'The first allowed domains, as in `/v2/workspace/domains/add`.',
  ),
  addLocalHostToAllowedDomains: optional(z.boolean()).describe(
    'Whether `localhost` and `127.0.0.1` are allowed too. By default false.',
  ),
  ...EmailConfigChange.shape,
  setDefaultEmailTriggers: optional(z.boolean()).describe(
    'True stores the default triggers of e-mail also without `useEmailService`. False does not store them with it either.',
  ),
  ...ChatConfigChange.shape,
  ...BasicConfigChange.shape,
  useNotificationService: optional(z.boolean()).describe(
    'Whether events create in-app notifications. By default false.',
  ),
  setDefaultNotificationTriggers: optional(z.boolean()).describe(
    'True stores the default triggers of notifications also without `useNotificationService`. False does not store them with it either.',
  ),
  requireAutoOrgUser: optional(z.boolean()).describe(settingTexts.requireAutoOrgUser),
  enablePrivateComments: optional(z.boolean()).describe(settingTexts.enablePrivateComments),
};
export type NewApiKeySettings = z.output<z.ZodObject<typeof newApiKeySettings>>;

/** Throws INVALID_ARGUMENT. */
export function requireUrlsOfSettings(settings: NewApiKeySettings, policy: AddressPolicy): void {
  const { rawNotificationUrl, processedNotificationUrl } = settings.webhookServiceConfig ?? {};
  requireAllowedUrls({ rawNotificationUrl, processedNotificationUrl }, policy, ['webhookServiceConfig']);
  requireChannelUrl(settings, policy);
}

/** A field is undefined if the request sets nothing of its configuration. */
export interface InitialConfigs {
  readonly domains: string[] | undefined;
  readonly email: EmailConfig | undefined;
  readonly chat: ChatConfig | undefined;
  readonly webhooks: BasicWebhookConfig | undefined;
  readonly notifications: NotificationConfig | undefined;
  readonly settings: ApiKeyConfig | undefined;
}

/**
 * `sealed` has the settings with their secrets encrypted. Throws INVALID_ARGUMENT if webhooks are to be encrypted
 * without a public key.
 */
export function initialConfigs(
  sent: NewApiKeySettings,
  sealed: { email: Change<EmailConfig>; chat: Change<ChatConfig>; webhooks: Change<BasicWebhookConfig> },
): InitialConfigs {
  return {
    domains: initialDomains(sent),
    email: initialEmail(sent, sealed.email),
    chat: isSent(sealed.chat) ? changeChatConfig(undefined, sealed.chat) : undefined,
    webhooks: initialWebhooks(sealed.webhooks),
    notifications: initialNotifications(sent),
    settings: initialSettings(sent),
  };
}

function initialDomains({
  allowedDomains = [],
  addLocalHostToAllowedDomains,
}: NewApiKeySettings): string[] | undefined {
  const domains = [
    ...new Set([...allowedDomains, ...(addLocalHostToAllowedDomains ? ['localhost', LOOPBACK_ADDRESS] : [])]),
  ];
  return domains.length > 0 ? domains : undefined;
}

function initialEmail(
  { setDefaultEmailTriggers: defaults }: NewApiKeySettings,
  sent: Change<EmailConfig>,
): EmailConfig | undefined {
  if (!isSent(sent) && !defaults) return undefined;
  const config = changeEmailConfig(
    undefined,
    defaults ? merge<Change<EmailConfig>>({ emailServiceConfig: { triggers: defaultEmailTriggers } }, sent) : sent,
  );
  if (defaults !== false) return config;
  const { triggers: _, ...emailServiceConfig } = config.emailServiceConfig;
  const triggers = sent.emailServiceConfig?.triggers;
  return { ...config, emailServiceConfig: merge<EmailConfig['emailServiceConfig']>(emailServiceConfig, { triggers }) };
}

function initialWebhooks(sent: Change<BasicWebhookConfig>): BasicWebhookConfig | undefined {
  return isSent(sent) ? changeBasicConfig(undefined, sent) : undefined;
}

function initialNotifications({
  useNotificationService,
  setDefaultNotificationTriggers: defaults,
}: NewApiKeySettings): NotificationConfig | undefined {
  if (useNotificationService === undefined && !defaults) return undefined;
  const config = changeNotificationConfig(undefined, {
    useNotificationService,
    ...(defaults && { notificationServiceConfig: { triggers: defaultNotificationTriggers } }),
  });
  return defaults === false ? { ...config, notificationServiceConfig: {} } : config;
}

function initialSettings({ requireAutoOrgUser, enablePrivateComments }: NewApiKeySettings): ApiKeyConfig | undefined {
  const sent = { requireAutoOrgUser, enablePrivateComments };
  return isSent(sent) ? changeApiKeyConfig(undefined, sent, {}) : undefined;
}

function isSent(sent: object): boolean {
  return Object.values(sent).some((value) => value !== undefined);
}

const OwnRegion = /* @__PURE__ */ defineSchema(() =>
  withRefusal(z.string(), {
    values: 'another region, for a production key',
    message: 'must be the region of this service',
  }),
);

export const Regions = {
  persistenceDBRegion: optional(OwnRegion).describe(
    'A production key may name only the region of this service, such as `eu-central-1`. Ignored for a testing key.',
  ),
  realtimeDBRegion: optional(OwnRegion).describe('As `persistenceDBRegion`.'),
};

export function requireOwnRegion(
  sent: { readonly [name in keyof typeof Regions]?: string | undefined },
  type: string,
  region: string,
): void {
  if (type !== 'production') return;
  for (const [field, value] of Object.entries(sent)) {
    if (value !== undefined && value !== region)
      throw invalid({
        path: [field],
        code: 'unsupported_region',
        message: `${field} must be ${region}, the region of this service`,
      });
  }
}

/**
 * Returns `from` with the encrypted secret of `to`, because a secret is encrypted for its API key. Of the URLs in the
 * fields `urls`, the credentials are not copied. A URL of `to` for the same receiver stays. The secret of `to` stays only
 * beside URLs of `to`, so no other receiver gets it. The service is off if only `from` has a secret.
 */
export function copyWithSecret<C extends object>(
  from: C,
  to: C,
  service: keyof C & string,
  group: keyof C & string,
  field: string,
  urls: readonly string[] = [],
): C {
  const [source, target] = [from[group], to[group]] as Readonly<Record<string, string>>[];
  const textOf = (config: Readonly<Record<string, string>> | undefined, name: string) => config?.[name] ?? '';
  const copied = Object.fromEntries(urls.map((name) => [name, copyUrl(textOf(source, name), textOf(target, name))]));
  const isKept = urls.every((name) => copied[name] === '' || copied[name] === textOf(target, name));
  const secret = isKept ? textOf(target, field) : '';
  const isNeeded =
    textOf(source, field) !== '' ||
    urls.some((name) => hasCredentials(textOf(source, name)) && !hasCredentials(textOf(copied, name)));
  return {
    ...from,
    [group]: { ...from[group], ...copied, [field]: secret },
    ...(isNeeded && secret === '' && { [service]: false }),
  };
}

function copyUrl(from: string, to: string): string {
  const copied = withoutCredentials(from);
  return hasCredentials(to) && withoutCredentials(to) === copied ? to : copied;
}

function hasCredentials(text: string): boolean {
  return withoutCredentials(text) !== text;
}

/** Returns any other text unchanged. */
function withoutCredentials(text: string): string {
  const url = parseHttpUrl(text);
  if (!url?.username && !url?.password) return text;
  [url.username, url.password] = ['', ''];
  return url.href;
}

export function copyAiSettings<C extends { readonly aiKeys: unknown }>(from: C, { aiKeys }: C): C {
  return { ...from, aiKeys };
}
