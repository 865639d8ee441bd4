import type { EmailConfig } from '../../workspaces/rules/emailConfig.ts';
import type { TriggerType } from '../../events/rules/catalogue.ts';
import { isMailed } from './headlines.ts';

/** Whether an event is mailed (spec 6 rule 4): the service and the event's trigger are on, and there is a mail of that type. */
export function isEventMailed(config: EmailConfig | undefined, event: string): boolean {
  return (
    config?.useEmailService === true &&
    isMailed(event) &&
    config.emailServiceConfig.triggers?.[event satisfies TriggerType] === true
  );
}

/** Who sends (design 6): the provider whose key is stored, where the type names it or leaves it open; else Amazon SES. */
export function providerOf({ emailServiceConfig: { type, apiKey } }: EmailConfig): 'ses' | 'sendgrid' {
  return type === 'sendgrid' || (type === 'custom' && apiKey !== '') ? 'sendgrid' : 'ses';
}
