import { EmailConfig, initialEmailConfig } from '../rules/emailConfig.ts';
import { defineConfig } from './configStore.ts';

export const EmailConfigEntity = defineConfig(
  'EmailConfig',
  "The settings of e-mail: triggers and provider, with the provider's encrypted key",
  {
    schema: EmailConfig,
    initial: initialEmailConfig,
    secrets: [{ group: 'emailServiceConfig', field: 'apiKey', purpose: 'emailProviderKey', id: 'emailconfig' }],
  },
  2,
);
