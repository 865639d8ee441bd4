import { SendEmailCommand, type SendEmailCommandInput, SESv2Client } from '@aws-sdk/client-sesv2';
import type { Capability } from '../../app/capability.ts';
import { clientSettings } from '../../app/sdkSettings.ts';

/** One mail to one person, in two forms that say the same. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Further headers, such as `List-Unsubscribe`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Mailer {
  /** Hands a mail over to be delivered, and gives the id under which that is known. */
  send(mail: Mail): Promise<{ messageId: string }>;
}

/** A mail as SES is given it. */
export function sesInput(from: string, { to, subject, text, html, headers = {} }: Mail): SendEmailCommandInput {
  return {
    FromEmailAddress: from,
    Destination: { ToAddresses: [to] },
    Content: {
      Simple: {
        Subject: utf8(subject),
        Body: { Text: utf8(text), Html: utf8(html) },
        Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
      },
    },
  };
}

function utf8(Data: string): { Data: string; Charset: string } {
  return { Data, Charset: 'UTF-8' };
}

/** Sends through Amazon SES. SES knows no idempotency: a mail whose sending is tried again can arrive twice. */
export class SesMailer implements Mailer {
  readonly #from: string;
  readonly #client: SESv2Client;

  constructor(from: string, client = new SESv2Client(clientSettings)) {
    this.#from = from;
    this.#client = client;
  }

  async send(mail: Mail): Promise<{ messageId: string }> {
    const { MessageId = '' } = await this.#client.send(new SendEmailCommand(sesInput(this.#from, mail)));
    return { messageId: MessageId };
  }
}

/** Send mail. Undefined where the operator has not said from which address: who uses it has to say what happens then. */
export const mailer: Capability<Mailer | undefined> = {
  grants: [{ resource: 'mail/identity', actions: ['SendEmail'] }],
  env: ['MAIL_FROM'],
  open: (env) => (env.MAIL_FROM === '' ? undefined : new SesMailer(env.MAIL_FROM)),
};
