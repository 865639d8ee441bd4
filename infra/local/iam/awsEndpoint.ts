import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError } from './awsResponse.ts';
import type { Service } from './awsService.ts';
import { StoppableServer } from '../gateway/stoppableServer.ts';
import { dynamoDbAccesses } from './dynamoDbAccess.ts';
import { forwarder } from './forwarder.ts';
import { isLoopbackHost } from '../loopbackHost.ts';
import { isAllowed } from './iam.ts';
import type { Measurements } from '../metrics/measurements.ts';
import type { Outbox } from '../mail/mailOutbox.ts';
import type { Principal, Principals } from './principals.ts';
import type { QueueStore } from '../queues/queueStore.ts';
import type { Secret } from '../secrets/secrets.ts';
import { secretsManager } from '../secrets/secretsManager.ts';
import { ses } from '../mail/ses.ts';
import { readAuthorization } from './signature.ts';
import { sqs } from '../queues/sqs.ts';

export interface AwsEndpointOptions {
  readonly enginePort: number;
  readonly secrets: readonly Secret[];
  readonly outbox: Outbox;
  readonly queues: QueueStore;
  readonly principals: Principals;
  readonly measurements: Pick<Measurements, 'recordCapacity'>;
  /** Called after every write to a table. */
  readonly onTableWrite: () => void;
}

const tableWrites = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

/**
 * The AWS endpoint for functions. Finds the caller by the access key, checks the signature, and refuses calls that the
 * caller's role in the template does not allow. Then it forwards the call to the table engine or handles it itself.
 */
export class AwsEndpoint {
  readonly #door: StoppableServer;
  /** Servers of their own for the services that can be stopped alone. */
  readonly queues: StoppableServer;
  readonly mail: StoppableServer;
  #close: () => void = () => undefined;

  private constructor(door: StoppableServer, queues: StoppableServer, mail: StoppableServer) {
    this.#door = door;
    this.queues = queues;
    this.mail = mail;
  }

  /** Opens the ports, which are part of queue URLs in the functions' environment. Calls wait until `open`. */
  static async listen(): Promise<AwsEndpoint> {
    return new AwsEndpoint(
      await StoppableServer.create(),
      await StoppableServer.create(),
      await StoppableServer.create(),
    );
  }

  get url(): string {
    return this.#door.url;
  }

  open({ enginePort, secrets, outbox, queues, principals, measurements, onTableWrite }: AwsEndpointOptions): void {
    const engine = forwarder(enginePort, measurements);
    this.#close = engine.close;
    const services: Record<string, Service> = {
      DynamoDB_20120810: {
        accesses: dynamoDbAccesses,
        answer(call) {
          if (tableWrites.has(call.operation)) call.response.once('finish', onTableWrite);
          engine.forward(call);
        },
      },
      AmazonSQS: sqs(queues),
      secretsmanager: secretsManager(secrets),
      ses: ses(outbox),
    };
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      answer(request, response, services, principals).catch((error: unknown) => {
        // The caller disconnected.
        if (request.destroyed && !request.complete) return;
        process.stderr.write(`The local AWS endpoint failed: ${String((error as Error).stack ?? error)}\n`);
        if (!response.headersSent) sendError(response, 500, 'InternalServerError', 'The local AWS endpoint failed');
      });
    };
    for (const door of this.#doors) door.setListener(listener);
  }

  async close(): Promise<void> {
    await Promise.all(this.#doors.map((door) => door.close()));
    this.#close();
  }

  get #doors(): readonly StoppableServer[] {
    return [this.#door, this.queues, this.mail];
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  services: Record<string, Service>,
  principals: Principals,
): Promise<void> {
  const { method = '', url = '', headers } = request;
  if (!isLoopbackHost(headers.host, request.socket.localPort)) {
    sendError(
      response,
      403,
      'AccessDeniedException',
      'The local AWS endpoint is reached as 127.0.0.1 or localhost only.',
    );
    return;
  }
  const { target, operation } = calledOperation(request);
  const service = services[target];
  if (!service) {
    sendError(response, 400, 'UnknownOperationException', `The local AWS endpoint has no ${target || url}`);
    return;
  }
  const authorization = readAuthorization(headers.authorization);
  if (!authorization) {
    sendError(response, 400, 'MissingAuthenticationTokenException', 'The request has no signature of version 4.');
    return;
  }
  const holder = principals.byAccessKey(authorization.accessKeyId);
  if (!holder) {
    sendError(response, 400, 'UnrecognizedClientException', 'The security token included in the request is invalid.');
    return;
  }

  const chunks: Buffer[] = [];
  // Hashes the body while it arrives.
  const hash = createHash('sha256');
  for await (const chunk of request as AsyncIterable<Buffer>) {
    hash.update(chunk);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!holder.isSignatureValid(authorization, { method, url, headers, bodyHash: hash.digest('hex') })) {
    sendError(
      response,
      400,
      'InvalidSignatureException',
      'The request signature does not match the secret of the access key.',
    );
    return;
  }
  const { principal } = holder;
  const input = JSON.parse(body.toString()) as Record<string, unknown>;

  const refused = service
    .accesses(operation, input)
    .find(({ action, resource }) => !permits(principal, action, resource));
  if (!refused) return service.answer({ operation, input, body, request, response });
  const { action, resource } = refused;
  process.stderr.write(`AccessDenied: ${principal.name} may not ${action} on ${resource}\n`);
  const message = `User: ${principal.arn} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
  sendError(response, 400, 'AccessDeniedException', message);
}

/**
 * JSON protocols name the service and operation in a header. SES uses REST, of which only this operation is supported.
 */
function calledOperation({ method, url, headers }: IncomingMessage): { target: string; operation: string } {
  if (`${method} ${url}` === 'POST /v2/email/outbound-emails') return { target: 'ses', operation: 'SendEmail' };
  const [target = '', operation = ''] = String(headers['x-amz-target'] ?? '').split('.');
  return { target, operation };
}

function permits(principal: Principal, action: string, resource: string): boolean {
  return principal.statements === 'everything' || isAllowed(principal.statements, action, resource);
}
