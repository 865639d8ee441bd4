import type { EmailConfig } from '../../workspaces/rules/emailConfig.ts';
import type { TriggerType } from '../../events/rules/catalogue.ts';
import { isMailed } from './headlines.ts';

/** Returns whether an event is mailed: the service and the event's trigger are on, and its type can be mailed. */
export function isEventMailed(config: EmailConfig | undefined, event: string): boolean {
  return (
    config?.useEmailService === true &&
    isMailed(event) &&
    config.emailServiceConfig.triggers?.[event satisfies TriggerType] === true
  );
}

/** Returns the provider: SendGrid for the type `sendgrid`, and for `custom` when a key is stored; else Amazon SES. */
export function providerOf({ emailServiceConfig: { type, apiKey } }: EmailConfig): 'ses' | 'sendgrid' {
  return type === 'sendgrid' || (type === 'custom' && apiKey !== '') ? 'sendgrid' : 'ses';
}
