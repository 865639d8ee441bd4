import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { EngineForwarder } from './engineForwarder.ts';
import { openTablesWithSdk } from './leanClient.ts';
import { startHttp } from './receivers.ts';

interface Faults {
  /**
   * Lets `passing` more calls of an operation succeed. After them, all calls fail with an internal error of DynamoDB
   * until `heal` is called.
   */
  fail(operation: string, passing: number): void;
  /** Carries out calls of an operation, but answers them with an internal error of DynamoDB until `heal` is called. */
  loseAnswer(operation: string): void;
  /**
   * Lets `passing` more calls of an operation succeed. Later ones get no answer until `heal` is called. `reached` resolves
   * when the first one arrives, `closed` when its client has closed the connection.
   */
  hang(operation: string, passing: number): { readonly reached: Promise<unknown>; readonly closed: Promise<unknown> };
  heal(): void;
  stop(): Promise<void>;
}

/**
 * Starts a proxy between the client and the table of `startEngine`. It can make calls fail. Call it before the first
 * request.
 */
export async function startFaults(): Promise<Faults> {
  // Uses the SDK's client as in a deployment, because its retries are part of what is tested.
  openTablesWithSdk();
  const engine = new EngineForwarder(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '');
  let failing:
    | { operation: string; passing: number; isCarriedOut?: boolean; onHanging?: (response: ServerResponse) => void }
    | undefined;
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    if (
      failing &&
      String(request.headers['x-amz-target']).endsWith(`.${failing.operation}`) &&
      failing.passing-- <= 0
    ) {
      if (failing.onHanging) {
        failing.onHanging(response);
        return;
      }
      if (failing.isCarriedOut) await engine.forward(request.headers, body);
      response
        .writeHead(500, { 'content-type': 'application/x-amz-json-1.0' })
        .end('{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}');
      return;
    }
    const answer = await engine.forward(request.headers, body);
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(answer.body);
  };
  const proxy = await startHttp((request, response) => void respond(request, response));
  // Turns metrics off. Otherwise the metrics of failed calls would appear in the test output.
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
    POWERTOOLS_METRICS_DISABLED: 'true',
  });
  return {
    fail(operation, passing) {
      failing = { operation, passing };
    },
    loseAnswer(operation) {
      failing = { operation, passing: 0, isCarriedOut: true };
    },
    hang(operation, passing) {
      const [reached, closed] = [Promise.withResolvers<unknown>(), Promise.withResolvers<unknown>()];
      const onHanging = (response: ServerResponse) => {
        response.once('close', closed.resolve);
        reached.resolve(undefined);
      };
      failing = { operation, passing, onHanging };
      return { reached: reached.promise, closed: closed.promise };
    },
    heal() {
      failing = undefined;
    },
    async stop() {
      engine.stop();
      await proxy.stop();
    },
  };
}
