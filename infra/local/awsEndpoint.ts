import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AwsAnswer, errorAnswer, type Service, type ThreadCall } from './iam/awsService.ts';
import { isAllowed } from './iam/iam.ts';
import type { Principal, Principals } from './iam/principals.ts';
import { readAuthorization } from './iam/signature.ts';
import { isForLoopback } from './loopbackHost.ts';
import type { Outbox } from './mail/mailOutbox.ts';
import { ses } from './mail/ses.ts';
import type { QueueStore } from './queues/queueStore.ts';
import { sqs } from './queues/sqs.ts';
import { type Secret, secretsManager } from './secrets.ts';
import { StoppableServer } from './stoppableServer.ts';
import { dynamoDbAccesses } from './table/dynamoDbAccess.ts';
import type { TableCalls } from './table/tableCalls.ts';

export interface AwsEndpointOptions {
  readonly table: Pick<TableCalls, 'answer'>;
  readonly secrets: readonly Secret[];
  readonly outbox: Outbox;
  readonly queues: QueueStore;
  readonly principals: Principals;
}

/**
 * Refuses calls that the role of the caller does not allow. HTTP requests, such as those of the operator's commands,
 * need a valid signature. Calls of functions need none: they are messages of the functions' threads.
 */
export class AwsEndpoint {
  readonly #mainServer: StoppableServer;
  /** SQS and SES have servers of their own, because the dashboard can stop them. */
  readonly queues: StoppableServer;
  readonly mail: StoppableServer;
  #services: Readonly<Record<string, Service>> = {};

  private constructor(server: StoppableServer, queues: StoppableServer, mail: StoppableServer) {
    this.#mainServer = server;
    this.queues = queues;
    this.mail = mail;
  }

  /** Opens the ports, which values in the templates contain. A request before `open` gets no answer. */
  static async listen(): Promise<AwsEndpoint> {
    return new AwsEndpoint(
      await StoppableServer.create(),
      await StoppableServer.create(),
      await StoppableServer.create(),
    );
  }

  get url(): string {
    return this.#mainServer.url;
  }

  get ports(): readonly number[] {
    return this.#servers.map(({ port }) => port);
  }

  open({ table, secrets, outbox, queues, principals }: AwsEndpointOptions): void {
    this.#services = {
      DynamoDB_20120810: { accesses: dynamoDbAccesses, answer: (call) => table.answer(call) },
      AmazonSQS: sqs(queues),
      secretsmanager: secretsManager(secrets),
      ses: ses(outbox),
    };
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      this.#answerRequest(request, response, principals).then(
        (answer) => sendAnswer(response, answer),
        (error: unknown) => {
          // The caller disconnected, so nobody reads an answer.
          if (request.destroyed && !request.complete) return;
          sendAnswer(response, failed(error));
        },
      );
    };
    for (const server of this.#servers) server.setListener(listener);
  }

  async answerThread(principal: Principal, call: ThreadCall, isAborted: () => boolean): Promise<AwsAnswer | undefined> {
    if (!this.#servers.some(({ port, isOpen }) => port === call.port && isOpen)) return undefined;
    try {
      const { target, operation } = calledOperation(call.method, call.path, call.target);
      const service = this.#services[target];
      return service ? await answerCall(service, principal, operation, call.body, isAborted) : unknownService(target);
    } catch (error) {
      return failed(error);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  get #servers(): readonly StoppableServer[] {
    return [this.#mainServer, this.queues, this.mail];
  }

  async #answerRequest(request: IncomingMessage, response: ServerResponse, principals: Principals): Promise<AwsAnswer> {
    const { method = '', url = '', headers } = request;
    if (!isForLoopback(request) || headers.origin !== undefined)
      return errorAnswer(
        403,
        'AccessDeniedException',
        'The local AWS endpoint is reached as 127.0.0.1 or localhost only, and not by web pages.',
      );
    const { target, operation } = calledOperation(method, url, String(headers['x-amz-target'] ?? ''));
    const authorization = readAuthorization(headers.authorization);
    if (!authorization)
      return errorAnswer(400, 'MissingAuthenticationTokenException', 'The request has no signature of version 4.');
    const holder = principals.byAccessKey(authorization.accessKeyId);
    if (!holder)
      return errorAnswer(400, 'UnrecognizedClientException', 'The security token included in the request is invalid.');

    const chunks: Buffer[] = [];
    const hash = createHash('sha256');
    for await (const chunk of request as AsyncIterable<Buffer>) {
      hash.update(chunk);
      chunks.push(chunk);
    }
    if (!holder.isSignatureValid(authorization, { method, url, headers, bodyHash: hash.digest('hex') }))
      return errorAnswer(
        400,
        'InvalidSignatureException',
        'The request signature does not match the secret of the access key.',
      );
    const service = this.#services[target];
    if (!service) return unknownService(target || url);
    const body = Buffer.concat(chunks).toString();
    return answerCall(service, holder.principal, operation, body, () => response.destroyed);
  }
}

async function answerCall(
  service: Service,
  principal: Principal,
  operation: string,
  body: string,
  isAborted: () => boolean,
): Promise<AwsAnswer> {
  const input = JSON.parse(body) as Record<string, unknown>;
  const refused = service
    .accesses(operation, input)
    .find(({ action, resource }) => !permits(principal, action, resource));
  if (!refused) return service.answer({ operation, input, body, isAborted });
  const { action, resource } = refused;
  process.stderr.write(`AccessDenied: ${principal.name} may not ${action} on ${resource}\n`);
  const message = `User: ${principal.arn} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
  return errorAnswer(400, 'AccessDeniedException', message);
}

/** In AWS's JSON protocols, the header `x-amz-target` names service and operation. SES has a REST API. */
function calledOperation(method: string, path: string, header: string): { target: string; operation: string } {
  if (`${method} ${path}` === 'POST /v2/email/outbound-emails') return { target: 'ses', operation: 'SendEmail' };
  const [target = '', operation = ''] = header.split('.');
  return { target, operation };
}

function permits(principal: Principal, action: string, resource: string): boolean {
  return principal.statements === 'everything' || isAllowed(principal.statements, action, resource);
}

function unknownService(target: string): AwsAnswer {
  return errorAnswer(400, 'UnknownOperationException', `The local AWS endpoint has no ${target}`);
}

function failed(error: unknown): AwsAnswer {
  process.stderr.write(`The local AWS endpoint failed: ${String((error as Error).stack ?? error)}\n`);
  return errorAnswer(500, 'InternalServerError', 'The local AWS endpoint failed');
}

function sendAnswer(response: ServerResponse, { status, body }: AwsAnswer): void {
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, headers).end(body);
}
