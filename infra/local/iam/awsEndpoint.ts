import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse } from './awsAnswer.ts';
import type { Service } from './awsService.ts';
import { Door } from '../gateway/door.ts';
import { dynamoDbAccesses } from './dynamoDbAccess.ts';
import { forwarder } from './forwarder.ts';
import { isLoopbackHost } from '../hosts.ts';
import { allows } from './iam.ts';
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
  readonly measurements: Pick<Measurements, 'consumed'>;
  /** Called after every write to a table. */
  onTableWrite(): void;
}

const tableWrites = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem', 'TransactWriteItems']);

/**
 * The AWS that functions call. It finds the caller by the access key, checks the signature of the request, refuses what the
 * role of the caller in the template does not allow, as IAM does, and forwards the rest to the table engine or answers itself.
 */
export class AwsEndpoint {
  readonly #door: Door;
  /** To the same services: those that can be away while the rest is there are called through doors of their own. */
  readonly queues: Door;
  readonly mail: Door;
  #close = () => undefined as void;

  private constructor(door: Door, queues: Door, mail: Door) {
    this.#door = door;
    this.queues = queues;
    this.mail = mail;
  }

  /** Takes ports, which the addresses of queues in the environment of functions contain. Calls are answered after `open`. */
  static async listen(): Promise<AwsEndpoint> {
    return new AwsEndpoint(await Door.create(), await Door.create(), await Door.create());
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
        // Who hung up, or was cut off, waits for no answer.
        if (request.destroyed && !request.complete) return;
        process.stderr.write(`The local AWS endpoint failed: ${String((error as Error).stack ?? error)}\n`);
        if (!response.headersSent) refuse(response, 500, 'InternalServerError', 'The local AWS endpoint failed');
      });
    };
    for (const door of this.#doors) door.answerBy(listener);
  }

  async close(): Promise<void> {
    await Promise.all(this.#doors.map((door) => door.close()));
    this.#close();
  }

  get #doors(): readonly Door[] {
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
  if (!isLoopbackHost(headers.host, request.socket.localPort))
    return refuse(
      response,
      403,
      'AccessDeniedException',
      'The local AWS endpoint is reached as 127.0.0.1 or localhost only.',
    );
  const { target, operation } = calledOperation(request);
  const service = services[target];
  if (!service)
    return refuse(response, 400, 'UnknownOperationException', `The local AWS endpoint has no ${target || url}`);
  const authorization = readAuthorization(headers.authorization);
  if (!authorization)
    return refuse(response, 400, 'MissingAuthenticationTokenException', 'The request has no signature of version 4.');
  const holder = principals.byAccessKey(authorization.accessKeyId);
  if (!holder)
    return refuse(
      response,
      400,
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
    );

  const chunks: Buffer[] = [];
  // Hashed as it arrives, once.
  const hash = createHash('sha256');
  for await (const chunk of request as AsyncIterable<Buffer>) {
    hash.update(chunk);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!holder.isSignedByHolder(authorization, { method, url, headers, bodyHash: hash.digest('hex') })) {
    return refuse(
      response,
      400,
      'InvalidSignatureException',
      'The request signature does not match the secret of the access key.',
    );
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
  refuse(response, 400, 'AccessDeniedException', message);
}

/** The JSON protocols name service and operation in a header; of a REST protocol only this one operation is known. */
function calledOperation({ method, url, headers }: IncomingMessage): { target: string; operation: string } {
  if (`${method} ${url}` === 'POST /v2/email/outbound-emails') return { target: 'ses', operation: 'SendEmail' };
  const [target = '', operation = ''] = String(headers['x-amz-target'] ?? '').split('.');
  return { target, operation };
}

function permits(principal: Principal, action: string, resource: string): boolean {
  return principal.statements === 'everything' || allows(principal.statements, action, resource);
}
