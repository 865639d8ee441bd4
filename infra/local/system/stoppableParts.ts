import { Parts } from '../parts.ts';
import type { Servers } from './servers.ts';
import type { Stores } from './stores.ts';

export function stoppableParts({ aws, eventApi }: Servers, { engine, messages }: Stores, hasEventApi: boolean): Parts {
  return new Parts({
    table: {
      meaning: 'The table. Stopping kills its engine: every call answers UNAVAILABLE. Webhooks, mails and jobs wait.',
      stop: () => engine.kill(),
      start: () => engine.restart(),
    },
    queues: {
      meaning:
        'The queues. While they are stopped, no message is sent or received. Calls succeed. Webhooks, mails and jobs wait.',
      stop() {
        messages.stop();
        return aws.queues.close();
      },
      async start() {
        await aws.queues.open();
        messages.start();
      },
    },
    mail: {
      meaning:
        'The mail provider. While it is stopped, it refuses connections. Mails wait and are sent later. A call for a login link answers UNAVAILABLE.',
      stop: () => aws.mail.close(),
      start: () => aws.mail.open(),
    },
    ...(hasEventApi && {
      live: {
        meaning:
          'The push service. Stopping ends the connections of all browsers. Calls succeed. Clients connect again after the start and read the changes that they missed.',
        stop: () => eventApi.close(),
        start: () => eventApi.reopen(),
      },
    }),
  });
}
