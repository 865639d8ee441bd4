import * as z from 'zod';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { openEmailConfig, readEmailConfig } from '../../../../lib/workspaces/configs/emailConfig.ts';
import { EmailConfig, initialEmailConfig } from '../../../../lib/workspaces/rules/emailConfig.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/emailconfig/get',
    summary: 'Get the e-mail configuration',
    auth: 'apiKey',
    kind: 'read',
    // It hands out the provider's key.
    freshCredentials: true,
    body: 'optional',
    input: z.object({}),
    output: z.object({ data: EmailConfig }),
    message: 'Email configuration retrieved successfully.',
    errors: [],
    uses: { configs: readEmailConfig, box: secretBox },
    impact: 'customers cannot see how events are mailed',
    example: {
      data: {},
      result: { data: initialEmailConfig },
    },
  },
  async ({ caller, deps }) => ({
    data: await openEmailConfig(deps.box, caller.tenant, await deps.configs.get(caller.tenant)),
  }),
);

export const handler = toLambda(endpoint);
