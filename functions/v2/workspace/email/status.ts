import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { withInternalMessage } from '../../../../lib/http/withInternalMessage.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';
import { MailAddress } from '../../../../lib/shared/mailAddress.ts';
import { emailStatusLimits } from '../../../../lib/workspaces/emailLimits.ts';
import { ownerStatus } from '../../../../lib/workspaces/verification.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/email/status',
    summary: "Get whether an owner's e-mail address is verified. If it is, expired API keys work again",
    description:
      'Needs no credentials. API keys that expired because the address was not verified work again a second after a call that answers `verified: true`. An address without a workspace is NOT_FOUND. RESOURCE_EXHAUSTED means too many calls about the address, or from the same source address. To verify the address, call `/v2/workspace/email/send-login-link`.',
    auth: 'none',
    kind: 'write',
    limitsSources: true,
    input: z.object({ ownerEmail: MailAddress.describe('The address of the owner of a workspace.') }),
    output: z.object({
      data: z.object({ verified: z.boolean().describe('Whether the owner has pressed the button of a login link.') }),
    }),
    message: ({ data }) => (data.verified ? 'Email verified and workspace reactivated' : 'Email not yet verified'),
    errors: ['RESOURCE_EXHAUSTED', 'NOT_FOUND', 'ABORTED'],
    uses: { limits: emailStatusLimits, owners: ownerStatus },
    impact: 'expired API keys of owners who have verified their e-mail address do not work again',
    example: {
      data: { ownerEmail: 'ada@example.com' },
      result: { data: { verified: true } },
    },
  },
  async ({ input, deps, now, sourceIp }) => {
    const allowed = await deps.limits.allow({ sourceIp, email: input.ownerEmail, now });
    if (!allowed) throw new ApiError('RESOURCE_EXHAUSTED', 'Rate limit exceeded for this endpoint. Try again later.');
    const verified = await withInternalMessage('Failed to verify email status', () =>
      deps.owners.isVerified(input.ownerEmail, now),
    );
    if (verified === undefined) throw new ApiError('NOT_FOUND', 'User not found');
    return { data: { verified } };
  },
);

export const handler = toLambda(endpoint);
