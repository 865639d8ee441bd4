import * as z from 'zod';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { openEmailConfig, sealProviderKey, writeEmailConfig } from '../../../../lib/workspaces/configs/emailConfig.ts';
import { requireChange } from '../../../../lib/workspaces/rules/mergeConfig.ts';
import { changeEmailConfig, EmailConfig, EmailConfigChange } from '../../../../lib/workspaces/rules/emailConfig.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/emailconfig/update',
    summary: 'Change the e-mail configuration; the first enabling seeds the triggers',
    auth: 'apiKey',
    kind: 'write',
    // It hands out the provider's key.
    freshCredentials: true,
    input: EmailConfigChange,
    output: z.object({ data: EmailConfig }),
    message: 'Email configuration updated successfully.',
    knownMessages: { type: 'Invalid email service configuration.' },
    errors: ['ABORTED'],
    uses: { configs: writeEmailConfig, box: secretBox },
    impact: 'customers cannot change which events are mailed, and how',
    example: {
      data: {
        emailServiceConfig: {
          type: 'sendgrid',
          fromEmail: 'notes@example.com',
          fromCompany: 'Acme',
          triggers: { 'comment.add': true },
        },
      },
      result: {
        data: {
          useEmailService: false,
          emailServiceConfig: {
            type: 'sendgrid',
            apiKey: '',
            fromEmail: 'notes@example.com',
            fromCompany: 'Acme',
            commentTemplateId: '',
            tagTemplateId: '',
            triggers: { 'comment.add': true },
          },
        },
      },
    },
  },
  async ({ input, caller: { tenant }, deps }) => {
    requireChange(input, Object.keys(EmailConfigChange.shape), 'Invalid email service configuration.');
    const sent = await sealProviderKey(deps.box, tenant, input);
    const config = await deps.configs.update(tenant, (stored) => changeEmailConfig(stored, sent));
    return { data: await openEmailConfig(deps.box, tenant, config) };
  },
);

export const handler = toLambda(endpoint);
