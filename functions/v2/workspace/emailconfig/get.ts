import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import { EmailConfigEntity } from '../../../../lib/workspaces/configs/emailConfig.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(EmailConfigEntity, secretBox).get,
    path: '/v2/workspace/emailconfig/get',
    summary: 'Get the e-mail configuration',
    description:
      'The answer has the key of your mail provider as plain text. Before the first change, it has the defaults. To change it, call `/v2/workspace/emailconfig/update`.',
    // A revoked auth token must not get the mail provider's key.
    freshCredentials: true,
    message: 'Email configuration retrieved successfully.',
    impact: 'customers cannot see their mail settings',
  },
  async ({ caller, deps }) => ({ data: await deps.config.getOrInitial(caller.tenant) }),
);

export const handler = toLambda(endpoint);
