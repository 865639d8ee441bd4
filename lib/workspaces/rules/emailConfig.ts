import * as z from 'zod';
import { optional } from '../../shared/schema.ts';
import { type Change, HeaderSecret, Line, merge } from './mergeConfig.ts';
import { defaultEmailTriggers } from '../../events/rules/catalogue.ts';
import { TriggerMap } from '../../events/rules/triggers.ts';

/** Who delivers the mail: `custom` is the provider whose key is stored, else the service's own (design 6). */
export const emailTypes = ['default', 'sendgrid', 'custom'] as const;

/** The e-mail configuration (spec 2): as it is stored, its key sealed, and as answers show it, its key in clear. */
export const EmailConfig = z.object({
  useEmailService: z.boolean(),
  emailServiceConfig: z.object({
    type: z.enum(emailTypes),
    /** The provider's key; like every text here empty when there is none. */
    apiKey: z.string(),
    fromEmail: z.string(),
    fromCompany: z.string(),
    commentTemplateId: z.string(),
    tagTemplateId: z.string(),
    /** Event type -> on or off; absent until the first enable or until some are sent. */
    triggers: z.record(z.string(), z.boolean()).optional(),
  }),
});
export type EmailConfig = z.output<typeof EmailConfig>;

const Address = z.email().max(254);

/** What may be sent to change it (spec 4.8). */
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

/** What a configuration that was never made reads as (spec 2). */
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
 * The configuration after an update. The first one that enables, by `useEmailService: true` or `type: custom` while no
 * triggers are stored, puts the defaults over what is stored (spec 4.8 rule 1, spec 3); what it sends comes over those, as it
 * always comes over what is stored (rule 2).
 */
export function changeEmailConfig(stored: EmailConfig = initialEmailConfig, sent: Change<EmailConfig>): EmailConfig {
  const enables = sent.useEmailService === true || sent.emailServiceConfig?.type === 'custom';
  const seeds = enables && Object.keys(stored.emailServiceConfig.triggers ?? {}).length === 0;
  return merge(seeds ? merge(stored, firstEnable) : stored, sent);
}
