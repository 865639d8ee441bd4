import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import { EmailConfigEntity } from '../../../../lib/workspaces/configs/emailConfig.ts';
import { changeEmailConfig, EmailConfigChange } from '../../../../lib/workspaces/rules/emailConfig.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(EmailConfigEntity, secretBox).update,
    path: '/v2/workspace/emailconfig/update',
    summary: 'Change the e-mail configuration. Enabling e-mail for the first time sets the default triggers',
    description:
      'Sent fields replace the stored ones at every depth, and others stay. An empty text removes a value. While e-mail is enabled, events whose trigger is on are mailed to users who are mentioned, assigned or taking part. Each user can switch mails off: `/v2/notifications/config/set`.',
    // A revoked auth token must not get the mail provider's key.
    freshCredentials: true,
    input: EmailConfigChange.check(
      requireChange(Object.keys(EmailConfigChange.shape), 'Invalid email service configuration.'),
    ),
    message: 'Email configuration updated successfully.',
    fixedMessages: { type: 'Invalid email service configuration.' },
    impact: 'customers cannot change which events send mail',
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
            digestTemplateId: '',
            triggers: { 'comment.add': true },
          },
        },
      },
    },
  },
  async ({ input, caller, deps }) => {
    return { data: await deps.config.update(caller.tenant, input, changeEmailConfig) };
  },
);

export const handler = toLambda(endpoint);
