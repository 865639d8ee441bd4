import { registeredEndpoints } from '../../infra/build/registry.ts';
import { ExampleValues, orderExamples, requestsBefore } from '../../infra/commands/smoke/examples.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { handlerOf } from './functionHandlers.ts';
import { type Headers, post, type Response, resultOf } from './requests.ts';

const WORKSPACE = '/v2/workspace';

export const endpoints: ReadonlyMap<string, Endpoint> = new Map(
  registeredEndpoints().map((endpoint) => [endpoint.path, endpoint]),
);

/** All endpoints but twins, in an order in which each example finds what it needs. */
export const examplePaths: readonly string[] = orderExamples(
  [...endpoints.values()].filter(({ twinOf }) => twinOf === undefined).map(({ path }) => path),
);

/** A customer who calls endpoints with the credentials that each needs. */
export class ExampleCustomer {
  workspace: Headers = {};
  key: Headers = {};
  user: Headers = {};

  /** Sends `data` with the credentials that the endpoint needs, and with further headers. */
  call(path: string, data: unknown, headers: Headers = {}): Promise<Response> {
    return post(handlerOf(path), { ...this.headersOf(path), ...headers }, data);
  }

  headersOf(path: string): Headers {
    return { apiKey: this.key, workspace: this.workspace, user: this.user, none: {} }[endpoints.get(path)!.auth];
  }

  /** Like `call`, for calls that must succeed. Returns the `data` of the answer. */
  async ok(path: string, data: object): Promise<any> {
    return resultOf(await this.call(path, data), path).data;
  }

  /** Takes the credentials from the answer of `/v2/workspace/create`. */
  async use({ id, authToken, apiKeyList }: any): Promise<void> {
    this.workspace = { 'x-svc-workspace-id': id, 'x-svc-workspace-auth-token': authToken };
    const [apiKey] = Object.keys(apiKeyList) as [string];
    const { authTokens } = await this.ok(`${WORKSPACE}/authtokens/get`, { apiKey });
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

/** The examples in turn, each with the values that the answers to earlier examples had. */
export class ExampleRun {
  readonly customer: ExampleCustomer;
  readonly #ownerEmail: string;
  #createdKey = '';
  #values = new ExampleValues();

  constructor(ownerEmail: string, customer = new ExampleCustomer()) {
    this.customer = customer;
    this.#ownerEmail = ownerEmail;
  }

  /** Sends what the example of an endpoint needs. Returns the `data` of its request, or of the request of its twin. */
  async prepare(path: string, endpoint = endpoints.get(path)!): Promise<object> {
    for (const [before, data] of requestsBefore[path] ?? []) await this.customer.ok(before, data);
    if (endpoint.auth === 'user') await this.customer.createUserToken(['nda']);
    return { ...(this.#values.fill(endpoint.example.data) as object), ...this.#changesOf(path) };
  }

  /** Takes the values of an answer for later examples. Returns the documented result, with the values of this run. */
  async record(path: string, { result }: any): Promise<unknown> {
    const { example } = endpoints.get(path)!;
    this.#values.recordAnswer(example.result, result);
    const documented = this.#values.fill(example.result);
    if (path === `${WORKSPACE}/create`) await this.#useWorkspace(result.data);
    if (path === `${WORKSPACE}/apikey/create`) this.#createdKey = result.data.apiKey;
    if (path === `${WORKSPACE}/authtoken/reset`) this.#useToken(result.data.newAuthToken.token);
    return documented;
  }

  async #useWorkspace(created: any): Promise<void> {
    await this.customer.use(created);
    this.#useToken(this.customer.key['x-svc-auth-token']!);
    await this.customer.ok(`${WORKSPACE}/advancedwebhookconfig/update`, { isEnabled: true });
  }

  #useToken(authToken: string): void {
    const apiKey = this.customer.key['x-svc-api-key']!;
    this.customer.key = { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken };
    // The examples have these two API keys.
    this.#values = new ExampleValues({
      key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ: apiKey,
      key_2xgC5RqLyN9oFzL3hM5vW7tB1cD: apiKey,
      '<signed token>': authToken,
      'the token of the headers': authToken,
    });
  }

  /** Returns the fields that the example leaves to the caller. */
  #changesOf(path: string): object {
    const changes: Readonly<Record<string, object>> = {
      [`${WORKSPACE}/create`]: { ownerEmail: this.#ownerEmail },
      [`${WORKSPACE}/apikey/create`]: { ownerEmail: this.#ownerEmail },
      [`${WORKSPACE}/apikey/copy`]: { targetApiKey: this.#createdKey },
      [`${WORKSPACE}/email/send-login-link`]: { email: this.#ownerEmail, continueUrl: 'https://localhost/' },
      [`${WORKSPACE}/email/status`]: { ownerEmail: this.#ownerEmail },
      [`${WORKSPACE}/emailconfig/update`]: { emailServiceConfig: { type: 'default', fromCompany: 'Acme' } },
      [`${WORKSPACE}/advancedwebhook/endpoints/recover`]: { since: new Date(Date.now() - 3_600_000).toISOString() },
    };
    return changes[path] ?? {};
  }
}
