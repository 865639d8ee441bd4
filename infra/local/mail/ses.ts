import { refuse, send } from '../iam/awsAnswer.ts';
import type { Service } from '../iam/awsService.ts';
import type { Message } from './eml.ts';
import { configurationSetArn, mailIdentityArn } from '../iam/identity.ts';
import type { Outbox } from './mailOutbox.ts';

/**
 * The part of a SendEmail request that this stand-in knows: simple content, no templates and no raw mail. Tags are for the
 * events that SES publishes, which nobody gets here.
 */
interface SendEmail {
  readonly FromEmailAddress?: string;
  readonly ReplyToAddresses?: readonly string[];
  /** What SES does with the mail's events; the role has to allow its use. */
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

/** An SES that writes mail into the outbox. Every domain counts as verified; the role still has to allow the sender's. */
export function ses(outbox: Outbox): Service {
  return {
    accesses(operation, { FromEmailAddress = '', ConfigurationSetName }: SendEmail) {
      const resources = [
        mailIdentityArn(FromEmailAddress),
        ...(ConfigurationSetName === undefined ? [] : [configurationSetArn(ConfigurationSetName)]),
      ];
      return resources.map((resource) => ({ action: `ses:${operation}`, resource }));
    },
    async answer({ input, response }) {
      const message = messageOf(input);
      if (typeof message === 'string') return refuse(response, 400, 'BadRequestException', message);
      send(response, 200, { MessageId: await outbox.put(message) });
    },
  };
}

/** The mail of a request, or what is wrong with it. */
function messageOf({
  FromEmailAddress: from,
  ReplyToAddresses = [],
  Destination,
  Content,
}: SendEmail): Message | string {
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
