import * as z from 'zod';
import { definePage, type View } from '../../../../lib/app/page.ts';
import { toPage } from '../../../../lib/http/page.ts';
import { UNSUBSCRIBE_PATH, unsubscribeLinks } from '../../../../lib/mail/unsubscribeLinks.ts';
import { unsubscribeUsers } from '../../../../lib/notifications/unsubscriber.ts';
import * as logMessages from '../../../../lib/observability/logMessages.ts';
import { html } from '../../../../lib/shared/html.ts';

export const page = definePage(
  {
    path: UNSUBSCRIBE_PATH,
    summary: 'The page that opens from the link in a notification mail. Its button unsubscribes the user',
    // A missing token counts as an empty one, so the answer is the page for an unknown link.
    input: z.object({ token: z.string().catch('') }),
    oneClick: true,
    uses: { links: unsubscribeLinks, users: unsubscribeUsers },
    impact: 'users cannot unsubscribe from notification mails and may mark them as spam',
  },
  {
    async show({ input: { token }, deps }) {
      const subscriber = await deps.links.subscriberOf(token);
      if (!subscriber) return unknown;
      const organization = await deps.users.findOrganization(subscriber);
      return question(organization?.organizationName ?? subscriber.organizationId, token);
    },
    async submit({ input: { token }, deps, now, log }) {
      const subscriber = await deps.links.subscriberOf(token);
      if (!subscriber) return unknown;
      await deps.users.unsubscribe(subscriber, now);
      log.info(logMessages.mailUnsubscribed, { tenant: subscriber.tenant });
      return done;
    },
  },
);

/** The form posts to the URL of the page, as mail programs do (RFC 8058). */
function question(organization: string, token: string): View {
  return {
    status: 200,
    title: 'No more of these mails?',
    body: html`<p>Press the button to get no more notification mails from <strong>${organization}</strong>. Everything else stays as it is.</p>
<form method="post" action="unsubscribe?token=${token}"><button>Unsubscribe</button></form>
<p><small>To keep getting these mails, close the page. Nothing has changed.</small></p>`,
  };
}

const done: View = {
  status: 200,
  title: 'You are unsubscribed',
  body: html`<p>You will get no more of these mails. A mail that is already on its way may still arrive.</p>
<p><small>You can turn these mails on again where you set your notifications.</small></p>`,
};

/** A mail program may have cut off the end of the link. */
const unknown: View = {
  status: 410,
  title: 'This link does not work',
  body: html`<p>Open the whole link in the mail once more. If it still does not work, use the link in a newer mail.</p>`,
};

export const handler = toPage(page);
