import * as z from 'zod';
import { defaultEmailTriggers } from '../../events/rules/catalogue.ts';
import { EmailTriggerMap } from '../../events/rules/triggers.ts';
import { mailableAddress, MailAddress } from '../../mail/rules/mailAddress.ts';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';
import { type Change, HeaderSecret, Line, merge } from './mergeConfig.ts';

/**
 * The types of a mail provider. `custom` is SendGrid if a key is stored. Otherwise `custom` and `default` are the operator's Amazon
 * SES.
 */
const emailTypes = ['default', 'sendgrid', 'custom'] as const;

/** The e-mail configuration. The provider's API key is encrypted in the table. Answers contain it as plain text. */
export const EmailConfig = /* @__PURE__ */ defineNamedSchema('EmailConfig', () =>
  z.object({
    useEmailService: z.boolean(),
    emailServiceConfig: z.object({
      type: z.enum(emailTypes),
      /** The provider's API key. Like all texts of this configuration, it is empty if it was never set. */
      apiKey: z.string(),
      fromEmail: z.string(),
      fromCompany: z.string(),
      commentTemplateId: z.string(),
      tagTemplateId: z.string(),
      /** Whether events of a type send mails, by event type. Absent until an update enables the service or sends triggers. */
      triggers: z.record(z.string(), z.boolean()).optional(),
    }),
  }),
);
export type EmailConfig = z.output<typeof EmailConfig>;

const EmailServiceConfigInput = /* @__PURE__ */ defineNamedSchema('EmailServiceConfigInput', () =>
  z.object({
    type: optional(z.enum(emailTypes)),
    apiKey: optional(HeaderSecret),
    fromEmail: optional(
      z
        .string()
        .check(
          z.refine((text) => text === '' || MailAddress.safeParse(text).success, {
            error: 'must be an e-mail address, or empty',
          }),
        )
        .overwrite((text) => mailableAddress(text) ?? text),
    ),
    fromCompany: optional(Line),
    commentTemplateId: optional(Line),
    tagTemplateId: optional(Line),
    triggers: optional(EmailTriggerMap),
  }),
);

export const EmailConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({ useEmailService: optional(z.boolean()), emailServiceConfig: optional(EmailServiceConfigInput) }),
);

export const initialEmailConfig: EmailConfig = {
  useEmailService: false,
  emailServiceConfig: {
    type: 'default',
    apiKey: '',
    fromEmail: '',
    fromCompany: '',
    commentTemplateId: '',
    tagTemplateId: '',
  },
};

const firstEnable: Change<EmailConfig> = {
  useEmailService: true,
  emailServiceConfig: { type: 'custom', triggers: defaultEmailTriggers },
};

/**
 * Returns the configuration after an update. `useEmailService: true` or `type: custom` enables the service. If the update enables
 * it and no triggers are stored, the default triggers and the type `custom` are set. Fields of the request take precedence over
 * these defaults.
 */
export function changeEmailConfig(stored: EmailConfig = initialEmailConfig, sent: Change<EmailConfig>): EmailConfig {
  const enables = sent.useEmailService === true || sent.emailServiceConfig?.type === 'custom';
  const setsDefaults = enables && Object.keys(stored.emailServiceConfig.triggers ?? {}).length === 0;
  return merge(setsDefaults ? merge(stored, firstEnable) : stored, sent);
}
