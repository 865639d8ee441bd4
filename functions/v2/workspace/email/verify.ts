import * as z from 'zod';
import { definePage, type View } from '../../../../lib/app/page.ts';
import { toPage } from '../../../../lib/http/page.ts';
import * as logMessages from '../../../../lib/observability/logMessages.ts';
import { html } from '../../../../lib/shared/html.ts';
import { LINK_MINUTES, type LoginLink, VERIFICATION_PATH } from '../../../../lib/workspaces/rules/verification.ts';
import { verifyOwners } from '../../../../lib/workspaces/verification.ts';

export const page = definePage(
  {
    path: VERIFICATION_PATH,
    summary: 'The page that a login link opens. Its button verifies the e-mail address',
    // A missing token counts as an empty one, so the answer is the page for a link that does not work.
    input: z.object({ token: z.string().catch('') }),
    uses: { owners: verifyOwners },
    impact: 'owners cannot verify their e-mail address, so their API keys expire',
  },
  {
    async show({ input, deps, now }) {
      const link = await deps.owners.findLink(input.token, now);
      return link ? question(link, input.token) : gone;
    },
    async submit({ input, deps, now, log }) {
      const link = await deps.owners.verify(input.token, now);
      if (!link) return gone;
      log.info(logMessages.workspaceOwnerVerified, { workspaceId: link.workspaceId });
      return done(link);
    },
  },
);

/** The URL in the form is relative, so the form also works if a custom domain has a base path. */
function question({ email }: LoginLink, token: string): View {
  return {
    status: 200,
    title: 'Is this your e-mail address?',
    body: html`<p>Press the button to confirm that <strong>${email}</strong> is yours.</p>
<form method="post" action="verify"><input type="hidden" name="token" value="${token}"><button>Yes, verify my address</button></form>
<p><small>If you did not ask for this, close the page. Nothing has changed.</small></p>`,
  };
}

function done({ email, continueUrl }: LoginLink): View {
  return {
    status: 200,
    title: 'Your address is verified',
    body: html`<p>Thank you. We know now that <strong>${email}</strong> is yours.</p>
<p><a class="button" href="${continueUrl}" rel="noreferrer">Continue to ${new URL(continueUrl).host}</a></p>`,
  };
}

const gone: View = {
  status: 410,
  title: 'This link does not work any more',
  body: html`<p>A link works once, within ${LINK_MINUTES} minutes. If you have already used this link, your address is verified, and you can close this page.</p>
<p>Otherwise ask for a new link where you asked for this one.</p>`,
};

export const handler = toPage(page);
