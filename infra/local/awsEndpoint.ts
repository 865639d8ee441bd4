import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { refuse } from './awsAnswer.ts';
import type { Service } from './awsService.ts';
import { dynamoDbAccesses } from './dynamoDbAccess.ts';
import { forwarder } from './forwarder.ts';
import { allows } from './iam.ts';
import type { Outbox } from './outbox.ts';
import type { Principal, Principals } from './principals.ts';
import type { Secret } from './secrets.ts';
import { secretsManager } from './secretsManager.ts';
import { ses } from './ses.ts';

export interface AwsEndpointOptions {
  readonly enginePort: number;
  readonly secrets: readonly Secret[];
  readonly outbox: Outbox;
  readonly principals: Principals;
}

export interface AwsEndpoint {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The AWS that functions talk to. It knows the caller by the access key, refuses what the caller's role in the template
 * does not allow, as IAM would, and forwards the rest to the table engine or answers itself.
 */
export async function startAwsEndpoint({ enginePort, secrets, outbox, principals }: AwsEndpointOptions): Promise<AwsEndpoint> {
  const engine = forwarder(enginePort);
  const services: Record<string, Service> = {
    DynamoDB_20120810: { accesses: dynamoDbAccesses, answer: ({ body, request, response }) => engine.forward(request, body, response) },
    secretsmanager: secretsManager(secrets),
    ses: ses(outbox),
  };
  const server = createServer((request, response) => {
    answer(request, response, services, principals).catch((error: unknown) => {
      process.stderr.write(`The local AWS endpoint failed: ${String((error as Error).stack ?? error)}\n`);
      if (!response.headersSent) refuse(response, 500, 'InternalServerError', 'The local AWS endpoint failed');
    });
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      engine.close();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, services: Record<string, Service>, principals: Principals): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);

  const { target, operation } = calledOperation(request);
  const service = services[target];
  if (!service) return refuse(response, 400, 'UnknownOperationException', `The local AWS endpoint has no ${target || request.url}`);
  const principal = principals.byAccessKey(accessKeyOf(request));
  if (!principal) return refuse(response, 400, 'UnrecognizedClientException', 'The security token included in the request is invalid.');
  const input = JSON.parse(body.toString()) as Record<string, unknown>;

  const refused = service.accesses(operation, input).find(({ action, resource }) => !permits(principal, action, resource));
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

/** From `AWS4-HMAC-SHA256 Credential=<access key>/20260101/us-east-1/dynamodb/aws4_request, …`. */
function accessKeyOf(request: IncomingMessage): string {
  return /Credential=([^/,\s]+)/.exec(request.headers.authorization ?? '')?.[1] ?? '';
}
