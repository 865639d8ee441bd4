import { type Access, errorAnswer, jsonAnswer, type Service } from '../iam/awsService.ts';
import { ACCOUNT, REGION } from '../iam/identity.ts';
import { domainOf, type OutgoingMail } from './eml.ts';
import type { Outbox } from './mailOutbox.ts';

/** The supported part of a request: simple content. Tags are ignored, because SES uses them for events only. */
interface SendEmail {
  readonly FromEmailAddress?: string;
  readonly ReplyToAddresses?: readonly string[];
  /** The caller's role must allow its use. */
  readonly ConfigurationSetName?: string;
  readonly Destination?: { readonly ToAddresses?: readonly string[] };
  readonly Content?: {
    readonly Simple?: {
      readonly Subject: { readonly Data: string };
      readonly Body: { readonly Text?: { readonly Data: string }; readonly Html?: { readonly Data: string } };
      readonly Headers?: readonly { readonly Name: string; readonly Value: string }[];
    };
  };
}

export function sesAccesses(operation: string, { FromEmailAddress = '', ConfigurationSetName }: SendEmail): Access[] {
  const resources = [
    mailIdentityArn(FromEmailAddress),
    ...(ConfigurationSetName === undefined ? [] : [configurationSetArn(ConfigurationSetName)]),
  ];
  return resources.map((resource) => ({ action: `ses:${operation}`, resource }));
}

/** Returns a SES that writes mails into the outbox and treats every domain as verified. */
export function ses(outbox: Outbox): Service {
  return {
    accesses: sesAccesses,
    async answer({ input }) {
      const message = messageOf(input);
      if (typeof message === 'string') return errorAnswer(400, 'BadRequestException', message);
      return jsonAnswer({ MessageId: await outbox.put(message) });
    },
  };
}

function messageOf({
  FromEmailAddress: from,
  ReplyToAddresses = [],
  Destination,
  Content,
}: SendEmail): OutgoingMail | string {
  const { ToAddresses: to = [] } = Destination ?? {};
  const simple = Content?.Simple;
  if (!from || to.length === 0) return 'Missing required parameter: FromEmailAddress or Destination';
  if (!simple) return 'The local SES sends simple content only';
  const replyTo = ReplyToAddresses.length > 0 ? [['Reply-To', ReplyToAddresses.join(', ')] as const] : [];
  const headers = [...replyTo, ...(simple.Headers ?? []).map(({ Name, Value }) => [Name, Value] as const)];
  const subject = simple.Subject.Data;
  if ([from, ...to, subject, ...headers.flat()].some((value) => /[\r\n]/.test(value)))
    return 'A header must not contain line breaks';
  return { from, to, subject, text: simple.Body.Text?.Data ?? '', html: simple.Body.Html?.Data ?? '', headers };
}

export function mailIdentityArn(mailbox: string): string {
  return `arn:aws:ses:${REGION}:${ACCOUNT}:identity/${domainOf(mailbox)}`;
}

function configurationSetArn(name: string): string {
  return `arn:aws:ses:${REGION}:${ACCOUNT}:configuration-set/${name}`;
}
