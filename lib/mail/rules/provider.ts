import type { TriggerType } from '../../events/rules/catalogue.ts';
import type { EmailConfig } from '../../workspaces/rules/emailConfig.ts';
import { isMailed } from './headlines.ts';

/**
 * Returns whether events of a type are mailed. The mail service and the type's trigger must be on, and mails must exist for the
 * type.
 */
export function isEventMailed(config: EmailConfig | undefined, event: string): boolean {
  return (
    config?.useEmailService === true &&
    isMailed(event) &&
    config.emailServiceConfig.triggers?.[event satisfies TriggerType] === true
  );
}

/** Returns SendGrid for the type `sendgrid`, and for `custom` if an API key is stored. Otherwise returns Amazon SES. */
export function providerOf({ emailServiceConfig: { type, apiKey } }: EmailConfig): 'ses' | 'sendgrid' {
  return type === 'sendgrid' || (type === 'custom' && apiKey !== '') ? 'sendgrid' : 'ses';
}
