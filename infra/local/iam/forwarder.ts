import { Agent, request as startRequest } from 'node:http';
import { sendError } from './awsResponse.ts';
import type { AwsCall } from './awsService.ts';
import { askForCapacity, canAskForCapacity, capacityKind, takeCapacity } from '../table/consumedCapacity.ts';
import type { Measurements } from '../metrics/measurements.ts';

/** Forwards calls to a local table engine over persistent connections, and measures their consumed capacity. */
export function forwarder(
  port: number,
  measurements: Pick<Measurements, 'recordCapacity'>,
): { forward: (call: AwsCall) => void; close: () => void } {
  const agent = new Agent({ keepAlive: true });
  return {
    forward({ operation, input, body, request: { headers }, response }) {
      const kind = capacityKind(operation);
      const asks = kind !== undefined && canAskForCapacity(input, body);
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
            const [first] = chunks;
            const whole = first && chunks.length === 1 ? first : Buffer.concat(chunks);
            const { consumed, body: rest } =
              kind === undefined ? { consumed: [], body: whole } : takeCapacity(whole, asks);
            if (kind !== undefined) for (const each of consumed) measurements.recordCapacity(kind, each);
            // The checksum covers the engine's original response body, so it is dropped.
            const { 'x-amz-crc32': ___, 'transfer-encoding': ____, connection: _____, ...returned } = answer.headers;
            response.writeHead(answer.statusCode ?? 500, { ...returned, 'content-length': rest.length }).end(rest);
          });
        },
      );
      // The SDK retries a server error, which is also right for a lost connection.
      const fail = (error: Error) => {
        if (!response.headersSent)
          sendError(response, 500, 'InternalServerError', `The table engine did not answer: ${error.message}`);
      };
      onward.on('error', fail);
      onward.end(sent);
    },
    close: () => agent.destroy(),
  };
}
