import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { publicUrl } from '../../../../lib/app/publicUrl.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { loginLinkMail } from '../../../../lib/mail/rendering/loginLinkMail.ts';
import { isUnsent, mailer } from '../../../../lib/mail/senders/ses.ts';
import * as logMessages from '../../../../lib/observability/logMessages.ts';
import { ApiError, invalid } from '../../../../lib/shared/errors.ts';
import { MailAddress } from '../../../../lib/shared/mailAddress.ts';
import { loginLinkLimits } from '../../../../lib/workspaces/emailLimits.ts';
import { ContinueUrl, linkAddress, mayContinueTo } from '../../../../lib/workspaces/rules/verification.ts';
import { isDisposable } from '../../../../lib/workspaces/rules/workspaces.ts';
import { issueLoginLinks } from '../../../../lib/workspaces/verification.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/email/send-login-link',
    summary: 'Mail an owner a link that verifies the e-mail address',
    description:
      'Needs no credentials. The link opens a page whose button verifies the address, once and within 30 minutes. An address without a workspace gets the same answer and no mail. RESOURCE_EXHAUSTED means too many links to the address, or too many calls from your source address. FAILED_PRECONDITION means that this service cannot send mail. To see whether the address is verified, call `/v2/workspace/email/status`.',
    auth: 'none',
    kind: 'write',
    limitsSources: true,
    input: z.object({
      email: MailAddress.describe('The address of the owner of a workspace, to which the link is mailed.'),
      continueUrl: ContinueUrl,
    }),
    output: z.object({ data: z.null() }),
    message: 'Login link sent successfully',
    fixedMessages: { format: { continueUrl: 'Invalid url for continueUrl' } },
    errors: ['FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED'],
    uses: { limits: loginLinkLimits, links: issueLoginLinks, mailer, publicUrl },
    impact: 'owners get no link to verify their e-mail address, so their API keys expire',
    example: {
      data: { email: 'ada@example.com', continueUrl: 'https://app.example.com/welcome' },
      result: { data: null },
    },
  },
  async ({ input, deps, now, sourceIp, log }) => {
    const { links, mailer: mail } = deps;
    const allowed = await deps.limits.allow({ sourceIp, email: input.email, now });
    if (!allowed) throw new ApiError('RESOURCE_EXHAUSTED', 'Rate limit exceeded for this endpoint. Try again later.');
    if (isDisposable(input.email))
      throw invalid({ path: ['email'], code: 'unsupported_domain', message: 'This email domain is not supported.' });
    if (!mail) {
      log.error(logMessages.mailNotConfigured, { setting: 'mailFrom' });
      throw new ApiError('FAILED_PRECONDITION', 'This service cannot send mail: its operator has not set mailFrom.');
    }
    const owner = await links.findOwner(input.email);
    if (!mayContinueTo(input.continueUrl, deps.publicUrl, owner?.allowedDomains ?? [])) {
      throw invalid({
        path: ['continueUrl'],
        code: 'domain_not_allowed',
        message: 'The continueUrl domain is not allowed.',
      });
    }
    // The answer is the same as for an address with a workspace, so it does not reveal that this address has none.
    if (!owner) return { data: null };
    const { workspaceId, email } = owner;
    const token = await links.issue({ workspaceId, email, continueUrl: new URL(input.continueUrl).href }, now);
    const { messageId } = await mail
      .send(loginLinkMail({ to: email, link: linkAddress(deps.publicUrl, token) }))
      .catch(async (error: unknown) => {
        // A link that SES did not send must not count towards the hourly limit of the address.
        if (isUnsent(error)) await deps.limits.giveBack({ email: input.email, now });
        throw error;
      });
    log.info(logMessages.loginLinkSent, { workspaceId, messageId });
    return { data: null };
  },
);

export const handler = toLambda(endpoint);
