import type { TriggerType } from '../../events/rules/catalogue.ts';
import type { EmailConfig } from '../../workspaces/rules/emailConfig.ts';
import { isMailed } from './headlines.ts';

export function isEventMailed(config: EmailConfig | undefined, event: string): boolean {
  return (
    config?.useEmailService === true &&
    isMailed(event) &&
    config.emailServiceConfig.triggers?.[event satisfies TriggerType] === true
  );
}

/** A `custom` provider without a stored API key is Amazon SES. */
export function providerOf({ emailServiceConfig: { type, apiKey } }: EmailConfig): 'ses' | 'sendgrid' {
  return type === 'sendgrid' || (type === 'custom' && apiKey !== '') ? 'sendgrid' : 'ses';
}
