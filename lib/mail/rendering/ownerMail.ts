import { DISABLED_AFTER } from '../../events/rules/endpointFailures.ts';
import type { MailSubject, OwnerSubject } from '../rules/mailRecord.ts';
import type { Mail } from '../senders/sender.ts';
import { formatTime, heading, mailDocument, note, paragraph } from './layout.ts';

interface OwnerText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
}

export function ownerMail(about: OwnerSubject, { to, apiKeyName }: { to: string; apiKeyName: string }): Mail {
  const { subject, paragraphs } = textOf(about);
  const why = `You get this mail because you own the workspace. It is about the API key "${apiKeyName}".`;
  return {
    to,
    subject,
    text: [subject, ...paragraphs, '-- ', why, ''].join('\n\n'),
    html: mailDocument(subject, [heading(subject), ...paragraphs.map(paragraph), note(why)], paragraphs[0]),
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function textOf(about: OwnerSubject): OwnerText {
  if (about.kind === 'endpointFailure') return endpointText(about);
  return about.kind === 'providerFailure' ? providerText(about) : chatText(about);
}

function endpointText({
  stage,
  endpointId,
  url,
  failingSince,
}: Extract<MailSubject, { kind: 'endpointFailure' }>): OwnerText {
  const endpoint = `${displayUrl(url)} (${endpointId})`;
  const failing = `Every webhook to ${endpoint} has failed since ${formatTime(failingSince)}.`;
  const attempts = 'Its answers are listed by /v2/workspace/advancedwebhook/attempts/get.';
  if (stage !== 'disabled') {
    return {
      subject: `A webhook endpoint has failed for ${stage === 1 ? 'a day' : `${stage} days`}`,
      paragraphs: [
        failing,
        `If no webhook succeeds until ${formatTime(failingSince + DISABLED_AFTER)}, the endpoint will be disabled. One success prevents that.`,
        attempts,
      ],
    };
  }
  return {
    subject: 'A webhook endpoint was disabled',
    paragraphs: [
      failing,
      'The endpoint is disabled now. Nothing is sent to it any more, and waiting webhooks are cancelled.',
      `When the endpoint works again, enable it with /v2/workspace/advancedwebhook/endpoints/update. To get the webhooks that it missed in the last 14 days, call /v2/workspace/advancedwebhook/endpoints/recover. ${attempts}`,
    ],
  };
}

function providerText({ reason }: Extract<MailSubject, { kind: 'providerFailure' }>): OwnerText {
  return {
    subject: 'Notification mails to your users cannot be sent',
    paragraphs: [
      `A mail to one of your users could not be sent through your e-mail provider: ${reason}. Either the key is missing or not valid any more, or the provider has not verified the address in fromEmail.`,
      'Notification mails are paused now. Events during the pause are not mailed later. We try again every hour, and immediately after you change the configuration with /v2/workspace/emailconfig/update.',
    ],
  };
}

function chatText({ part, reason }: Extract<MailSubject, { kind: 'chatFailure' }>): OwnerText {
  const [subject, failed, credential] =
    part === 'direct'
      ? ['Direct messages to your users in Slack cannot be sent', 'A direct message to one of your users', 'botToken']
      : ['Posts in your Slack channel cannot be sent', 'A post in your Slack channel', 'channelWebhookUrl'];
  return {
    subject,
    paragraphs: [
      `${failed} could not be sent: ${reason}. The ${credential} is not valid any more, or lacks a right.`,
      'These messages are paused now. Events during the pause are not sent later. We try again every hour, and immediately after you change the configuration with /v2/workspace/chatconfig/update.',
    ],
  };
}

/** Without credentials, query and fragment, which can contain secrets. */
function displayUrl(text: string): string {
  const url = URL.parse(text);
  return url ? `${url.origin}${url.pathname}`.slice(0, 200) : '';
}
