import { Agent, type IncomingMessage, request as startRequest, type ServerResponse } from 'node:http';
import { refuse } from './awsAnswer.ts';

/** Passes requests on to a local engine and streams its answers back, over connections that stay open. */
export function forwarder(port: number): { forward(request: IncomingMessage, body: Buffer, response: ServerResponse): void; close(): void } {
  const agent = new Agent({ keepAlive: true });
  return {
    forward({ headers }, body, response) {
      const { connection: _, 'transfer-encoding': __, ...passed } = headers;
      const onward = startRequest({ agent, host: '127.0.0.1', port, method: 'POST', path: '/', headers: { ...passed, 'content-length': body.length } }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', (error) => {
        // What the SDK makes of a server error fits a lost connection too: it tries again.
        if (response.headersSent) response.destroy();
        else refuse(response, 500, 'InternalServerError', `The table engine did not answer: ${error.message}`);
      });
      onward.end(body);
    },
    close: () => agent.destroy(),
  };
}
