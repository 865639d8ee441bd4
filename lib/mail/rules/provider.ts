import type { EmailConfig } from '../../workspaces/rules/emailConfig.ts';
import type { TriggerType } from '../../events/rules/catalogue.ts';
import { isMailed } from './headlines.ts';

/**
 * Returns whether events of a type are mailed. The mail service and the trigger of the type must be on, and the type must be
 * mailable.
 */
export function isEventMailed(config: EmailConfig | undefined, event: string): boolean {
  return (
    config?.useEmailService === true &&
    isMailed(event) &&
    config.emailServiceConfig.triggers?.[event satisfies TriggerType] === true
  );
}

/** Returns the provider: SendGrid for the type `sendgrid`, and for `custom` if a key is stored. Otherwise Amazon SES. */
export function providerOf({ emailServiceConfig: { type, apiKey } }: EmailConfig): 'ses' | 'sendgrid' {
  return type === 'sendgrid' || (type === 'custom' && apiKey !== '') ? 'sendgrid' : 'ses';
}
