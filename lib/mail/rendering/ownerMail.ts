import { DISABLED_AFTER } from '../../webhooks/rules/autoDisable.ts';
import type { MailSubject } from '../rules/mailRecord.ts';
import { heading, mailDocument, note, paragraph } from './layout.ts';
import type { Mail } from '../senders/sender.ts';

interface OwnerText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
}

/** Returns the mail to the owner of a workspace about a failing endpoint or e-mail provider of one API key. */
export function ownerMail(
  about: Exclude<MailSubject, { kind: 'event' }>,
  { to, apiKeyName }: { to: string; apiKeyName: string },
): Mail {
  const { subject, paragraphs } = about.kind === 'providerTrouble' ? providerText(about) : endpointText(about);
  const why = `You get this mail because you own the workspace. It is about the API key "${apiKeyName}".`;
  return {
    to,
    subject,
    text: [subject, ...paragraphs, '-- ', why, ''].join('\n\n'),
    html: mailDocument(subject, [heading(subject), ...paragraphs.map(paragraph), note(why)], paragraphs[0]),
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function endpointText({
  stage,
  endpointId,
  url,
  failingSince,
}: Extract<MailSubject, { kind: 'endpointTrouble' }>): OwnerText {
  const endpoint = `${displayUrl(url)} (${endpointId})`;
  const failing = `Every webhook to ${endpoint} has failed since ${formatTime(failingSince)}.`;
  const attempts = 'What it answered is in /v2/workspace/advancedwebhook/attempts/get.';
  if (stage !== 'disabled') {
    return {
      subject: `A webhook endpoint has failed for ${stage === 1 ? 'a day' : `${stage} days`}`,
      paragraphs: [
        failing,
        `If nothing gets through until ${formatTime(failingSince + DISABLED_AFTER)}, the endpoint will be disabled. One success is enough to avoid that.`,
        attempts,
      ],
    };
  }
  return {
    subject: 'A webhook endpoint was disabled',
    paragraphs: [
      failing,
      'It is disabled now: nothing is sent to it any more, and what was waiting is cancelled.',
      `Once it works again, enable it with /v2/workspace/advancedwebhook/endpoints/update, and get what was missed with /v2/workspace/advancedwebhook/endpoints/recover, which goes back 14 days. ${attempts}`,
    ],
  };
}

function providerText({ reason }: Extract<MailSubject, { kind: 'providerTrouble' }>): OwnerText {
  return {
    subject: 'Notification mails to your users cannot be sent',
    paragraphs: [
      `A mail to one of your users could not be sent through your e-mail provider: ${reason}. Either the key is missing or not valid any more, or the provider has not verified the address in fromEmail.`,
      'Notification mails pause now, and what happens meanwhile is not mailed later. We try again every hour, and at once when you change the configuration with /v2/workspace/emailconfig/update.',
    ],
  };
}

/** Returns a URL without credentials, query and fragment, which can contain secrets. */
function displayUrl(text: string): string {
  const url = URL.parse(text);
  return url ? `${url.origin}${url.pathname}`.slice(0, 200) : '';
}

/** Returns a time as `2026-01-15 09:30 UTC`. */
function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
