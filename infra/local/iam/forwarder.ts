import { Agent, request as startRequest } from 'node:http';
import { refuse } from './awsAnswer.ts';
import type { AwsCall } from './awsService.ts';
import { askForCapacity, canAsk, kindOfCapacity, takeCapacity } from '../table/consumedCapacity.ts';
import type { Measurements } from '../metrics/measurements.ts';

/** Passes calls on to a local table engine and its answers back, over connections that stay open; measures the capacity that they consume. */
export function forwarder(
  port: number,
  measurements: Pick<Measurements, 'consumed'>,
): { forward(call: AwsCall): void; close(): void } {
  const agent = new Agent({ keepAlive: true });
  return {
    forward({ operation, input, body, request: { headers }, response }) {
      const kind = kindOfCapacity(operation);
      const asks = kind !== undefined && canAsk(input, body);
      const sent = asks ? askForCapacity(body) : body;
      const { connection: _, 'transfer-encoding': __, ...passed } = headers;
      const onward = startRequest(
        {
          agent,
          host: '127.0.0.1',
          port,
          method: 'POST',
          path: '/',
          headers: { ...passed, 'content-length': sent.length },
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.once('error', fail);
          answer.once('end', () => {
            const whole = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
            const { consumed, body: rest } =
              kind === undefined ? { consumed: [], body: whole } : takeCapacity(whole, asks);
            for (const each of consumed) measurements.consumed(kind!, each);
            // The checksum is of the body as the engine wrote it.
            const { 'x-amz-crc32': ___, 'transfer-encoding': ____, connection: _____, ...returned } = answer.headers;
            response.writeHead(answer.statusCode ?? 500, { ...returned, 'content-length': rest.length }).end(rest);
          });
        },
      );
      // What the SDK makes of a server error fits a lost connection too: it tries again.
      const fail = (error: Error) => {
        if (!response.headersSent)
          refuse(response, 500, 'InternalServerError', `The table engine did not answer: ${error.message}`);
      };
      onward.on('error', fail);
      onward.end(sent);
    },
    close: () => agent.destroy(),
  };
}
