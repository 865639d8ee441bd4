import { registeredEndpoints } from '../../infra/build/registry.ts';
import { routeKey } from '../../lib/app/page.ts';
import type { Response } from '../support/requests.ts';
import { type Headers, httpEvent } from './events.ts';
import type { LambdaSystem } from './system.ts';

export const endpoints = new Map(registeredEndpoints().map((endpoint) => [endpoint.path as string, endpoint]));

/** A customer who calls the deployed functions. The bodies of all requests have one encoding. */
export class LambdaCustomer {
  workspace: Headers = {};
  key: Headers = {};
  user: Headers = {};
  readonly #system: LambdaSystem;
  readonly #encoding: 'plain' | 'base64';

  constructor(system: LambdaSystem, encoding: 'plain' | 'base64') {
    this.#system = system;
    this.#encoding = encoding;
  }

  /** Sends `data` with the credentials that the endpoint needs. */
  async call(path: string, data: object, timeoutMilliseconds?: number): Promise<Response> {
    const endpoint = endpoints.get(path)!;
    const headers = { apiKey: this.key, workspace: this.workspace, user: this.user, none: {} }[endpoint.auth];
    const route = routeKey(endpoint);
    const event = httpEvent({ method: 'POST', path, headers, body: JSON.stringify({ data }) }, this.#encoding);
    return toResponse(await this.#system.invoke(this.#system.functionOfRoute(route), event, timeoutMilliseconds));
  }

  /** Like `call`, for calls that must succeed. Returns the `data` of the answer. */
  async ok(path: string, data: object): Promise<any> {
    const { status, body } = await this.call(path, data);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
    return body.result.data;
  }

  /** Takes the credentials from the answer of `/v2/workspace/create`. */
  async use({ id, authToken, apiKeyList }: any): Promise<void> {
    this.workspace = { 'x-svc-workspace-id': id, 'x-svc-workspace-auth-token': authToken };
    const [apiKey] = Object.keys(apiKeyList) as [string];
    const { authTokens } = await this.ok('/v2/workspace/authtokens/get', { apiKey });
    this.key = { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authTokens[0].token };
  }

  /** Creates the documents nda and msa of the organization acme. */
  async createDocuments(): Promise<void> {
    await this.ok('/v2/organizations/documents/add', {
      organizationId: 'acme',
      createOrganization: true,
      documents: [{ documentId: 'nda' }, { documentId: 'msa' }],
    });
  }

  /** Takes a token of the user ada, who may use these documents. */
  async createUserToken(documentIds: readonly string[]): Promise<void> {
    const { token } = await this.ok('/v2/auth/generate_token', {
      userId: 'ada',
      userProperties: { name: 'Ada Lovelace', email: 'ada@example.com' },
      permissions: { resources: documentIds.map((id) => ({ type: 'document', id, organizationId: 'acme' })) },
    });
    this.user = { authorization: `Bearer ${token}` };
  }
}

/** Returns the answer that API Gateway would send for the result of a function in payload format 2.0. */
export function toResponse({ statusCode, headers, body = '', isBase64Encoded = false }: any): Response {
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  const isJson = String(headers['content-type']).startsWith('application/json');
  return { status: statusCode, headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}
