import * as z from 'zod';
import { defaultEmailTriggers } from '../../events/rules/catalogue.ts';
import { EmailTriggerMap } from '../../events/rules/triggers.ts';
import { mailableAddress, MailAddress } from '../../shared/mailAddress.ts';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';
import { type Change, HeaderSecret, Line, merge } from './mergeConfig.ts';

const emailTypes = ['default', 'sendgrid', 'custom'] as const;

const texts = {
  useEmailService:
    'Whether events are mailed. By default false. The first `true` sets the default triggers: comments and huddles, except suggestions.',
  emailServiceConfig: 'Who sends the mails, and which events are mailed.',
  type: 'Who sends: `sendgrid`, or `custom` with an `apiKey`, your SendGrid account; otherwise the operator of this service. While no triggers are stored, `custom` also enables e-mail. By default `default`.',
  apiKey: 'Your SendGrid key, stored encrypted. Empty if there is none.',
  fromEmail: 'The sender of mails from your SendGrid account, which need it. Otherwise replies go to this address.',
  fromCompany: 'The name of the sender, and of your product in mails.',
  commentTemplateId: 'The SendGrid template of mails. Without it, the service writes the mail.',
  tagTemplateId:
    'The SendGrid template of mails to users whom the comment mentions. Without it, `commentTemplateId` counts.',
  digestTemplateId:
    'The SendGrid template of mails with several notifications. Without it, the service writes the mail, also if the other templates are set.',
  triggers: 'Which events are mailed. A trigger that was never set is off.',
} as const;

export const EmailConfig = /* @__PURE__ */ defineNamedSchema('EmailConfig', () =>
  z
    .object({
      useEmailService: z.boolean().describe(texts.useEmailService),
      emailServiceConfig: z
        .object({
          type: z.enum(emailTypes).describe(texts.type),
          apiKey: z.string().describe(texts.apiKey),
          fromEmail: z.string().describe(texts.fromEmail),
          fromCompany: z.string().describe(texts.fromCompany),
          commentTemplateId: z.string().describe(texts.commentTemplateId),
          tagTemplateId: z.string().describe(texts.tagTemplateId),
          // Configurations of earlier versions lack it.
          digestTemplateId: z.string().default('').describe(texts.digestTemplateId),
          triggers: z
            .record(z.string(), z.boolean())
            .optional()
            .describe('Whether events are mailed, by type. Absent until an update enables e-mail or sends triggers.'),
        })
        .describe(texts.emailServiceConfig),
    })
    .describe('Whether and how events are mailed. Texts that were never set are empty.'),
);
export type EmailConfig = z.output<typeof EmailConfig>;

const EmailServiceConfigInput = /* @__PURE__ */ defineNamedSchema('EmailServiceConfigInput', () =>
  z
    .object({
      type: optional(z.enum(emailTypes)).describe(texts.type),
      apiKey: optional(HeaderSecret).describe(texts.apiKey),
      fromEmail: optional(
        z
          .string()
          .check(
            z.refine((text) => text === '' || MailAddress.safeParse(text).success, {
              error: 'must be an e-mail address, or empty',
            }),
          )
          .overwrite((text) => mailableAddress(text) ?? text),
      ).describe(texts.fromEmail),
      fromCompany: optional(Line).describe(texts.fromCompany),
      commentTemplateId: optional(Line).describe(texts.commentTemplateId),
      tagTemplateId: optional(Line).describe(texts.tagTemplateId),
      digestTemplateId: optional(Line).describe(texts.digestTemplateId),
      triggers: optional(EmailTriggerMap).describe(texts.triggers),
    })
    .describe('The fields of the e-mail configuration to change. An empty text removes a value.'),
);

export const EmailConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    useEmailService: optional(z.boolean()).describe(texts.useEmailService),
    emailServiceConfig: optional(EmailServiceConfigInput).describe(texts.emailServiceConfig),
  }),
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
    digestTemplateId: '',
  },
};

const firstEnable: Change<EmailConfig> = {
  useEmailService: true,
  emailServiceConfig: { type: 'custom', triggers: defaultEmailTriggers },
};

/**
 * While no triggers are stored, `useEmailService: true` or `type: custom` enables e-mail and sets the default triggers
 * and the type `custom`. Fields of the request take precedence.
 */
export function changeEmailConfig(stored: EmailConfig = initialEmailConfig, sent: Change<EmailConfig>): EmailConfig {
  const enables = sent.useEmailService === true || sent.emailServiceConfig?.type === 'custom';
  const setsDefaults = enables && Object.keys(stored.emailServiceConfig.triggers ?? {}).length === 0;
  return merge(setsDefaults ? merge(stored, firstEnable) : stored, sent);
}
