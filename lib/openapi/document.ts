import { type AuthLevel, commonErrors, type Endpoint, endpointId } from '../app/endpoint.ts';
import { isRateLimited, takesIdempotencyKey } from '../http/capabilities.ts';
import { errorCatalogue, type ErrorStatus } from '../shared/errors.ts';
import type { Deployment } from './deployment.ts';
import { errorExamples } from './errors.ts';
import { ComponentSchemas, type JsonSchema, jsonSchemaOf, type Reference } from './jsonSchema.ts';
import { familyTags, inReadingOrder, type Tag, tagOf } from './tags.ts';
import { type Webhooks, webhooks, webhookTags, wrappedBodies } from './webhooks.ts';

export type { JsonSchema } from './jsonSchema.ts';

interface JsonContent {
  readonly 'application/json': {
    readonly schema: JsonSchema;
    readonly example?: unknown;
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

export interface DocumentedResponse {
  readonly description: string;
  readonly headers: Readonly<Record<string, Reference>>;
  readonly content: JsonContent;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly 'x-twin-of'?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Reference[];
  readonly requestBody: { readonly required: boolean; readonly description?: string; readonly content: JsonContent };
  /** By HTTP code. Error responses refer to components. */
  readonly responses: Readonly<Record<string, DocumentedResponse | Reference>>;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly Tag[];
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>;
  readonly webhooks: Webhooks;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, object>>;
    readonly headers: Readonly<Record<string, object>>;
  };
}

const description = [
  'Every endpoint is called with POST and takes its parameters as the `data` of a JSON object.',
  'An object whose schema has `additionalProperties: false` refuses fields that it does not declare: INVALID_ARGUMENT names the field, and the one that was probably meant.',
  '`null` for an optional field means the same as a missing field.',
  'Later versions may add fields to answers.',
  'A time that is a number is in epoch milliseconds, unless its description names another unit.',
  'Calls of an API key are limited per second, separately for reads, writes and expensive calls. Above the limit the answer is RESOURCE_EXHAUSTED with a `retry-after` header.',
].join(' ');

/** The headers without the prefix `x-<service>-`, by the name of their security scheme. */
const credentialHeaders: Record<AuthLevel, Readonly<Record<string, string>>> = {
  apiKey: { apiKey: 'api-key', authToken: 'auth-token' },
  workspace: { workspaceId: 'workspace-id', workspaceAuthToken: 'workspace-auth-token' },
  user: {},
  none: {},
};

/**
 * Tests of a few endpoints pass a `makeWebhooks` that returns no webhooks, because the default takes most of the time.
 */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  service: Deployment & { version: string },
  makeWebhooks = webhooks,
): OpenApiDocument {
  const inOrder = endpoints.toSorted((a, b) => inReadingOrder(a.path, b.path));
  const components = new ComponentSchemas(service.serviceName);
  const paths = inOrder.map((endpoint) => [endpoint.path, { post: operation(endpoint, components) }] as const);
  const sent = makeWebhooks(components);
  return {
    openapi: '3.1.0',
    info: { title: 'Collaboration backend', version: service.version, description },
    servers: [{ url: service.url, description: 'This service' }],
    tags: [...familyTags(inOrder.map(({ path }) => path)), ...webhookTags],
    paths: Object.fromEntries(paths),
    webhooks: sent,
    components: {
      securitySchemes: securitySchemes(service.serviceName),
      responses: errorResponses(inOrder),
      schemas: { ErrorResponse, ...wrappedBodies, ...components.toJson() },
      parameters: { IdempotencyKey },
      headers: answerHeaders,
    },
  };
}

/** In the order of the error catalogue. */
export function possibleErrors(endpoint: Endpoint): ErrorStatus[] {
  const possible = new Set<ErrorStatus>([...commonErrors, ...endpoint.errors]);
  if (endpoint.auth !== 'none') possible.add('PERMISSION_DENIED');
  if (isRateLimited(endpoint)) possible.add('RESOURCE_EXHAUSTED');
  // A call gets ABORTED while an earlier call with the same `Idempotency-Key` is still running.
  if (takesIdempotencyKey(endpoint)) possible.add('ABORTED');
  return (Object.keys(errorCatalogue) as ErrorStatus[]).filter((status) => possible.has(status));
}

function security({ auth, user }: Endpoint): Record<string, never[]>[] {
  const schemes = Object.keys(credentialHeaders[auth]);
  return [
    ...(schemes.length > 0 ? [Object.fromEntries(schemes.map((scheme) => [scheme, []]))] : []),
    ...(user ? [{ userToken: [] }] : []),
  ];
}

function operation(endpoint: Endpoint, components: ComponentSchemas): Operation {
  return {
    operationId: endpointId(endpoint.path),
    tags: [tagOf(endpoint.path)],
    summary: endpoint.summary,
    ...descriptionOf(endpoint),
    ...(endpoint.twinOf !== undefined && { 'x-twin-of': endpointId(endpoint.twinOf) }),
    security: security(endpoint),
    ...(takesIdempotencyKey(endpoint) && { parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }] }),
    requestBody: requestBody(endpoint, components),
    responses: {
      200: successResponse(endpoint, components),
      ...Object.fromEntries(
        errorGroups(endpoint).map(([code, statuses]) => [
          code,
          { $ref: `#/components/responses/${groupName(statuses)}` },
        ]),
      ),
    },
  };
}

/** A twin says how it differs, then has the text of its endpoint. */
function descriptionOf({ twinOf, differs, description: text }: Endpoint): Pick<Operation, 'description'> {
  const twinText =
    twinOf === undefined ? undefined : `The same as \`${twinOf}\`${differs === undefined ? '' : `, ${differs}`}.`;
  const texts = [twinText, text].filter((part) => part !== undefined);
  return texts.length > 0 ? { description: texts.join('\n\n') } : {};
}

/** The schema has only bodies with the envelope `data`, because generated clients need a single form. */
const BARE_BODY = 'The fields of `data` may also be at the top of the body, without the envelope.';

const DATA = 'The parameters of the operation.';

const RESULT = 'What the operation returns.';

function requestBody(
  { input, body = 'required', example }: Endpoint,
  components: ComponentSchemas,
): Operation['requestBody'] {
  const required = body !== 'optional';
  const schema: JsonSchema = {
    type: 'object',
    properties: { data: { description: DATA, ...jsonSchemaOf(input, components, 'request') } },
    ...(required && { required: ['data'] }),
    additionalProperties: false,
  };
  return {
    required,
    ...(body === 'bare or wrapped' && { description: BARE_BODY }),
    content: { 'application/json': { schema, example: { data: example.data } } },
  };
}

function successResponse(endpoint: Endpoint, components: ComponentSchemas): DocumentedResponse {
  const output = jsonSchemaOf(endpoint.output, components);
  const message =
    typeof endpoint.message === 'function'
      ? endpoint.message(endpoint.example.result as never, endpoint.example.data as never)
      : endpoint.message;
  const result: JsonSchema =
    message === null
      ? output
      : {
          ...output,
          properties: {
            status: {
              type: 'string',
              const: 'success',
              description: 'Always `success`. Single items of the call can have failed.',
            },
            message: { type: 'string', description: 'A sentence for people. Programs should not depend on it.' },
            ...output.properties,
          },
          required: ['status', 'message', ...(output.required ?? [])],
        };
  return {
    description: 'Success',
    headers: {
      ...requestId,
      ...(takesIdempotencyKey(endpoint) && {
        'idempotency-replayed': { $ref: '#/components/headers/IdempotencyReplayed' },
      }),
    },
    content: {
      'application/json': {
        schema: { type: 'object', properties: { result: { description: RESULT, ...result } }, required: ['result'] },
        example: {
          result: { ...(message !== null && { status: 'success', message }), ...(endpoint.example.result as object) },
        },
      },
    },
  };
}

function errorGroups(endpoint: Endpoint): [code: number, statuses: ErrorStatus[]][] {
  return [...Map.groupBy(possibleErrors(endpoint), (status) => errorCatalogue[status].http)];
}

function groupName(statuses: readonly ErrorStatus[]): string {
  return statuses.join('.');
}

/** One response for each list of statuses with the same HTTP code. */
function errorResponses(endpoints: readonly Endpoint[]): Record<string, DocumentedResponse> {
  const groups = endpoints.flatMap(errorGroups).map(
    ([, statuses]) =>
      [
        groupName(statuses),
        {
          description: statuses.map((status) => `${status}: ${errorCatalogue[status].meaning}`).join('\n'),
          headers: {
            ...requestId,
            ...(statuses.some((status) => ['RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'ABORTED'].includes(status)) && {
              'retry-after': { $ref: '#/components/headers/RetryAfter' },
            }),
          },
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/ErrorResponse' },
              examples: Object.fromEntries(
                statuses.map((status) => [status, { value: { error: { status, ...errorExamples[status] } } }]),
              ),
            },
          },
        },
      ] as const,
  );
  return Object.fromEntries(groups.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The description of the response says which statuses an endpoint can return. */
const ErrorResponse: JsonSchema = {
  type: 'object',
  description: 'The body of every answer to a call that failed.',
  properties: {
    error: {
      type: 'object',
      description: 'Why the call failed.',
      properties: {
        status: {
          type: 'string',
          enum: Object.keys(errorCatalogue),
          description: 'The kind of error, on which programs can depend.',
        },
        message: {
          type: 'string',
          description: 'A sentence for people, which names the field at fault and what is allowed.',
        },
        details: {
          type: 'object',
          description:
            'More about the error. Malformed requests have `issues`. Some operations add fields of their own, such as what could be read.',
          additionalProperties: true,
          properties: {
            issues: {
              description: 'All problems of a malformed request.',
              type: 'array',
              items: {
                type: 'object',
                properties: {
                  path: {
                    description: 'The path from `data` to the field.',
                    type: 'array',
                    items: { type: ['string', 'integer'] },
                  },
                  code: { type: 'string', description: 'The kind of problem, for example `too_small`.' },
                  message: { type: 'string', description: 'What is wrong with the field, and what is allowed.' },
                },
                required: ['path', 'code', 'message'],
              },
            },
          },
        },
      },
      required: ['status', 'message'],
    },
  },
  required: ['error'],
};

const IdempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a repeated call safe. For 24 hours, a call with the same key and the same body gets the answer of the first call.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
};

const answerHeaders = {
  RequestId: { description: "The id of this request in the service's logs.", schema: { type: 'string' } },
  RetryAfter: {
    description:
      'The number of seconds after which the request can succeed. Sent only if the API key has sent too many calls, if the index of a search is not ready, or if a move has to wait for a removal of users.',
    schema: { type: 'integer', minimum: 1 },
  },
  IdempotencyReplayed: {
    description: 'Sent if the answer is the stored answer of an earlier call under the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
};

const USER_TOKEN =
  'A user token of /v2/auth/generate_token, for the browser of one user. It reaches what this user may see and change.';

const requestId = { 'x-request-id': { $ref: '#/components/headers/RequestId' } };

function securitySchemes(serviceName: string): Record<string, object> {
  const schemes = Object.values(credentialHeaders).flatMap((headers) => Object.entries(headers));
  const description = 'If this header is missing, the token is read from the header of authToken.';
  const headers = Object.fromEntries(
    schemes.map(([scheme, header]) => [
      scheme,
      {
        type: 'apiKey',
        in: 'header',
        name: `x-${serviceName}-${header}`,
        ...(scheme === 'workspaceAuthToken' && { description }),
      },
    ]),
  );
  return { ...headers, userToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: USER_TOKEN } };
}
