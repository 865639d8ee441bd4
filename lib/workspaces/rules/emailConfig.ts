import * as z from 'zod';
import { optional } from '../../shared/schema.ts';
import { type Change, HeaderSecret, Line, merge } from './mergeConfig.ts';
import { defaultEmailTriggers } from '../../events/rules/catalogue.ts';
import { TriggerMap } from '../../events/rules/triggers.ts';

/** The types of a mail provider. `custom` is the provider whose key is stored. Without a stored key, it is the service's own provider. */
export const emailTypes = ['default', 'sendgrid', 'custom'] as const;

/** The e-mail configuration. The provider's key is encrypted in the table and in clear in answers. */
export const EmailConfig = z.object({
  useEmailService: z.boolean(),
  emailServiceConfig: z.object({
    type: z.enum(emailTypes),
    /** The provider's key. Like all texts of this configuration, it is empty if it was never set. */
    apiKey: z.string(),
    fromEmail: z.string(),
    fromCompany: z.string(),
    commentTemplateId: z.string(),
    tagTemplateId: z.string(),
    /** Whether an event type sends mails, by event type. Absent until the service is first enabled or triggers are sent. */
    triggers: z.record(z.string(), z.boolean()).optional(),
  }),
});
export type EmailConfig = z.output<typeof EmailConfig>;

const Address = z.email().max(254);

export const EmailConfigChange = z.object({
  useEmailService: optional(z.boolean()),
  emailServiceConfig: optional(
    z.object({
      type: optional(z.enum(emailTypes)),
      apiKey: optional(HeaderSecret),
      fromEmail: optional(
        z.string().check(
          z.refine((text) => text === '' || Address.safeParse(text).success, {
            error: 'must be an e-mail address, or empty',
          }),
        ),
      ),
      fromCompany: optional(Line),
      commentTemplateId: optional(Line),
      tagTemplateId: optional(Line),
      triggers: optional(TriggerMap),
    }),
  ),
});

/** The value of a configuration that was never set. */
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
 * Returns the configuration after an update. `useEmailService: true` or `type: custom` enables the service. An update that
 * enables it while no triggers are stored also sets the default triggers and the type `custom`. The fields of the request
 * take precedence.
 */
export function changeEmailConfig(stored: EmailConfig = initialEmailConfig, sent: Change<EmailConfig>): EmailConfig {
  const enables = sent.useEmailService === true || sent.emailServiceConfig?.type === 'custom';
  const setsDefaults = enables && Object.keys(stored.emailServiceConfig.triggers ?? {}).length === 0;
  return merge(setsDefaults ? merge(stored, firstEnable) : stored, sent);
}
