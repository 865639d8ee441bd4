import { EmailConfig, initialEmailConfig } from '../rules/emailConfig.ts';
import { defineConfig } from './configStore.ts';

export const EmailConfigEntity = defineConfig(
  'EmailConfig',
  "Which events are mailed, and how; the provider's key encrypted",
  {
    schema: EmailConfig,
    initial: initialEmailConfig,
    secret: { group: 'emailServiceConfig', field: 'apiKey', purpose: 'emailProviderKey', id: 'emailconfig' },
  },
);
