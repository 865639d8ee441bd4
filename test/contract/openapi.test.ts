import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { projectDir } from '../../infra/build/build.ts';
import { installTool } from '../../infra/tools/installTool.ts';
import { endpointId } from '../../lib/app/endpoint.ts';
import { type EventType, eventTypes, triggerTypes } from '../../lib/events/rules/catalogue.ts';
import { sourceOf } from '../../lib/events/rules/payload.ts';
import { takesIdempotencyKey } from '../../lib/http/capabilities.ts';
import { placeholders, withDeployment } from '../../lib/openapi/deployment.ts';
import { type JsonSchema, openApiDocument, possibleErrors } from '../../lib/openapi/document.ts';
import { ComponentSchemas, jsonSchemaOf } from '../../lib/openapi/jsonSchema.ts';
import { webhooks } from '../../lib/openapi/webhooks.ts';
import { errorCatalogue } from '../../lib/shared/errors.ts';
import {
  defineNamedSchema,
  Id,
  JsonValue,
  list,
  OpenObject,
  optional,
  Text,
  withOpenKeys,
} from '../../lib/shared/schema.ts';
import { advancedPayload, basicPayload, type DeliverableEvent } from '../../lib/webhooks/rules/payloads.ts';
import { sampleEvent } from '../../lib/webhooks/rules/samples.ts';
import { encodeBody } from '../../lib/webhooks/transport/encodeBody.ts';
import { checksOf, documentOf } from '../support/documented.ts';
import { pemOf, rsaKeyPair } from '../support/rsaKeys.ts';
import { cases, endpoints } from './cases.ts';

const openApi = documentOf(endpoints, webhooks);
const { resolveReference, documentedData, dataSchema, documentedResponse, problems } = checksOf(openApi);

/** Yields every object in a JSON value, each with its path. */
function* nodes(value: unknown, path: string[] = []): Generator<[path: string, node: Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path.join('/'), value as Record<string, unknown>];
  for (const [key, item] of Object.entries(value)) yield* nodes(item, [...path, key]);
}

const withPlaceholders = JSON.stringify(openApiDocument(endpoints, { ...placeholders, version: '1.0.0' }));

describe('the OpenAPI document', () => {
  test('has one operation with a unique name per endpoint, and describes every tag', () => {
    const inVersion = (version: string) =>
      endpoints.map(({ path }) => path).filter((path) => path.startsWith(`/${version}/`));
    expect(Object.keys(openApi.paths)).toEqual([...inVersion('v2').sort(), ...inVersion('v1').sort()]);
    const operations = Object.values(openApi.paths).map(({ post }) => post);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(endpoints.length);
    const sent = Object.values(openApi.webhooks).map(({ post }) => post);
    expect(openApi.tags.map(({ name }) => name)).toEqual([
      ...new Set([...operations, ...sent].flatMap(({ tags }) => tags)),
    ]);
    expect(
      openApi.tags
        .filter(({ description }) => description === '')
        .map(({ name }) => `${name} has no description in lib/openapi/tags.ts`),
    ).toEqual([]);
  });

  test('documents retry-after for the answers that can have it: too many calls, and an index that is not ready', () => {
    const { responses } = openApi.paths['/v2/memory/search']!.post;
    const hasRetryAfter = (code: string) => {
      const { $ref } = responses[code] as { $ref: string };
      return 'retry-after' in resolveReference<{ headers: object }>($ref).headers;
    };
    expect(['404', '429', '500', '503'].map(hasRetryAfter)).toEqual([false, true, false, true]);
  });

  test('does not depend on the order of the registry', () => {
    expect(JSON.stringify(documentOf(endpoints.toReversed(), webhooks))).toBe(JSON.stringify(openApi));
  });

  test('has no broken reference', () => {
    const references = [...nodes(openApi)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
    expect(references.length).toBeGreaterThan(endpoints.length);
    for (const $ref of references) expect(resolveReference($ref)).toBeDefined();
  });

  test('has no empty schema, so custom schemas declare their type with .meta({ type })', () => {
    const schemas = [...nodes(openApi.paths)].flatMap(([path, node]) =>
      Object.entries({ ...(node.properties as object), items: node.items }).map(
        ([key, schema]) => [`${path}/${key}`, schema] as const,
      ),
    );
    const empty = schemas.filter(
      ([, schema]) => typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0,
    );
    expect(empty.map(([path]) => path)).toEqual([]);
  });

  test('has every object that several endpoints or components contain as a component, so generated clients have one type of it', () => {
    const users = new Map<string, Set<string>>();
    const collect = (user: string, schema: unknown) => {
      for (const [, node] of nodes(schema)) {
        if (node.type !== 'object' || Object.keys((node.properties as object | undefined) ?? {}).length < 3) continue;
        const text = JSON.stringify(node);
        users.set(text, (users.get(text) ?? new Set()).add(user));
      }
    };
    // The data and the result of an endpoint are not components, but the objects inside them can be.
    const collectInside = (user: string, { properties }: JsonSchema) => {
      for (const property of Object.values(properties ?? {})) collect(user, property);
    };
    for (const { path } of endpoints.filter(({ twinOf }) => twinOf === undefined)) {
      collectInside(path, documentedData(path));
      collectInside(
        path,
        documentedResponse(path, 200)!.content['application/json'].schema.properties!.result as JsonSchema,
      );
    }
    for (const [name, schema] of Object.entries(openApi.components.schemas)) collectInside(name, schema);
    const repeated = [...users].filter(([, { size }]) => size > 1);
    expect(
      repeated.map(([text, names]) => `${[...names].join(', ')}: defineNamedSchema is missing for ${text}`),
    ).toEqual([]);
  });

  test('names the credential headers after the service', () => {
    const { components } = openApiDocument([], { serviceName: 'acme', url: 'https://api.test', version: '1.0.0' });
    expect(Object.values(components.securitySchemes).map((scheme) => (scheme as { name: string }).name)).toEqual([
      'x-acme-api-key',
      'x-acme-auth-token',
      'x-acme-workspace-id',
      'x-acme-workspace-auth-token',
    ]);
  });

  test('equals the output of npm run openapi with the settings of cdk.json', () => {
    const read = (file: string) => JSON.parse(readFileSync(join(projectDir, file), 'utf8'));
    const printed = execFileSync(process.execPath, ['infra/commands/openapi.ts'], {
      cwd: projectDir,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    const { serviceName } = read('cdk.json').context;
    expect(JSON.parse(printed)).toEqual({
      ...JSON.parse(withDeployment(withPlaceholders, { serviceName, url: 'http://127.0.0.1:3000' })),
      info: { ...openApi.info, version: read('package.json').version },
    });
  });

  test('has the placeholders for URL and service name only where a deployment replaces them', () => {
    const count = (part: string) => withPlaceholders.split(part).length - 1;
    expect([count(placeholders.url), count(placeholders.serviceName)]).toEqual([1, 6]);
    expect(withDeployment(withPlaceholders, { url: 'https://api.test', serviceName: 'svc' })).toBe(
      JSON.stringify(openApi),
    );
  });
});

const bare = ['/v2/memory/judgments/query', '/v2/memory/search'];

test('only /v2/memory/search and /v2/memory/judgments/query have results without status and message', () => {
  expect(
    cases
      .filter(([, { message }]) => message === null)
      .map(([path]) => path)
      .sort(),
  ).toEqual(bare);
});

test.each(['/v1/users/data/get', '/v2/users/data/get'])('%s takes a field with the name of the service', (path) => {
  expect(dataSchema(path)).toMatchObject({
    properties: { svcAllOrganizations: { type: ['boolean', 'null'], description: expect.any(String) } },
    additionalProperties: false,
  });
});

describe.each(cases)('the operation of %s', (path, endpoint) => {
  const operation = openApi.paths[path]!.post;

  test('has the declared name, tag and summary', () => {
    expect(operation).toMatchObject({
      operationId: endpointId(path),
      tags: [
        path
          .replace(/^\/v2\/|^\//, '')
          .split('/')
          .slice(0, path.startsWith('/v2/') ? 1 : 2)
          .join(' '),
      ],
      summary: endpoint.summary,
    });
  });

  test('requires the credentials of its auth level, or a user token if it accepts user tokens', () => {
    const pairs = {
      apiKey: [{ apiKey: [], authToken: [] }],
      workspace: [{ workspaceId: [], workspaceAuthToken: [] }],
      user: [],
      none: [],
    };
    expect(operation.security).toEqual([...pairs[endpoint.auth], ...(endpoint.user ? [{ userToken: [] }] : [])]);
    for (const scheme of operation.security.flatMap(Object.keys))
      expect(openApi.components.securitySchemes).toHaveProperty(scheme);
  });

  test('has the parameter Idempotency-Key if it writes with credentials', () => {
    const names = (operation.parameters ?? []).map(({ $ref }) => resolveReference<{ name: string }>($ref).name);
    expect(names).toEqual(takesIdempotencyKey(endpoint) ? ['Idempotency-Key'] : []);
  });

  test('has examples that match its schemas', () => {
    const request = operation.requestBody.content['application/json'];
    const response = documentedResponse(path, 200)!.content['application/json'];
    expect(problems(request.schema, request.example, 'closed')).toEqual([]);
    expect(problems(response.schema, response.example, 'closed')).toEqual([]);
    const { result } = response.example as { result: object };
    if (bare.includes(path)) for (const field of ['status', 'message']) expect(result).not.toHaveProperty(field);
    else expect(result).toMatchObject({ status: 'success', message: expect.any(String) });
  });

  test('lists every possible error under its HTTP status, with its meaning', () => {
    expect(possibleErrors(endpoint)).toEqual(
      expect.arrayContaining([...endpoint.errors, ...(endpoint.auth === 'none' ? [] : ['PERMISSION_DENIED'])]),
    );
    for (const status of possibleErrors(endpoint)) {
      const { http, meaning } = errorCatalogue[status];
      const response = documentedResponse(path, http)!;
      const { schema } = response.content['application/json'];
      expect(problems(schema, { error: { status, message: 'why' } }, 'closed')).toEqual([]);
      expect(problems(schema, { error: { status: 'UNHEARD_OF', message: 'why' } }, 'closed')).not.toEqual([]);
      expect(response.description).toContain(`${status}: ${meaning}`);
      const { examples = {} } = response.content['application/json'];
      expect(problems(schema, examples[status]?.value, 'closed')).toEqual([]);
      expect(examples[status]?.value).toMatchObject({ error: { status } });
    }
  });
});

describe('the webhooks of the OpenAPI document', () => {
  const plainSchema = (name: string) =>
    (openApi.webhooks[name]!.post.requestBody.content['application/json'].schema.anyOf as [JsonSchema])[0];
  const sample = (event: EventType): DeliverableEvent => ({
    eventId: 'msg_1',
    event,
    createdAt: 0,
    payload: sampleEvent(event, 'key_1').payload,
  });

  test('include every event type, and a basic webhook for every trigger type', () => {
    expect(Object.keys(openApi.webhooks)).toEqual([...eventTypes, ...triggerTypes.map((type) => `basic.${type}`)]);
    for (const [name, { post }] of Object.entries(openApi.webhooks)) {
      const headers = post.parameters.map(({ name: header }) => header);
      expect([name, headers]).toEqual([name, ['webhook-id', 'webhook-timestamp', 'webhook-signature']]);
      for (const { value } of Object.values(post.requestBody.content['application/json'].examples))
        expect([name, problems(plainSchema(name), value, 'closed')]).toEqual([name, []]);
    }
  });

  test.each([false, true])('describe payloads with enableDataProtection %s', (enableDataProtection) => {
    const config = { enableDataProtection };
    const levels = { ada: { inbox: 'ALL', email: 'NONE' } } as const;
    const enrichment = {
      organizationName: 'Acme',
      documentName: 'Notes',
      recipients: [{ userId: 'ada', name: 'Ada', email: 'ada@example.com' }],
    };
    const payloads = [
      ...eventTypes.flatMap((event) =>
        [{ config }, ...(sourceOf(event) === 'comment' ? [{ config, levels }] : [])].map(
          (options) => [event, advancedPayload(sample(event), options)] as const,
        ),
      ),
      ...triggerTypes.flatMap((event) =>
        [
          { config, accessDeniedUsers: ['bob'] },
          { config, enrichment },
        ].map((options) => [`basic.${event}`, basicPayload(sample(event), options)] as const),
      ),
    ];
    for (const [name, payload] of payloads)
      expect([name, problems(plainSchema(name), JSON.parse(payload), 'closed')]).toEqual([name, []]);
  });

  test('say which receivers get them, and whether a trigger is on by default', () => {
    const textOf = (name: string) => openApi.webhooks[name]?.post.description;
    expect(textOf('comment.add')).toMatch(/whose `filterTypes` and `channels` select it\.$/);
    expect(textOf('basic.comment.add')).toMatch(/By default the trigger is on\.$/);
    expect(textOf('basic.recorder.done')).toMatch(/By default the trigger is off\.$/);
  });

  test('do not accept the payload of another event', () => {
    const other = sample('comment.update');
    for (const [name, payload] of [
      ['comment.add', advancedPayload(other, { config: {} })],
      ['basic.comment.add', basicPayload(other, { config: {} })],
    ] as const)
      expect([name, problems(plainSchema(name), JSON.parse(payload), 'open')]).not.toEqual([name, []]);
  });

  test.each([
    ['EncodedWebhook', { encodeData: true }],
    ['EncryptedWebhook', { encryptData: true, publicKey: pemOf(rsaKeyPair().publicKey, 'spki') }],
  ])('have the schema %s for an encoded or encrypted body', (name, wrapping) => {
    const sent = encodeBody('{}', wrapping);
    if ('error' in sent) throw new Error(sent.error);
    expect(problems(resolveReference(`#/components/schemas/${name}`), JSON.parse(sent.body), 'closed')).toEqual([]);
  });
});

describe('the JSON Schema of request data', () => {
  const id = { type: 'string', minLength: 1, maxLength: 512, pattern: '^[^\\u0000-\\u001F\\u007F-\\u009F]+$' };

  test('describes required and nullable fields, enums, and the items and the length of a list', () => {
    const kind = { type: 'string', enum: ['map', 'text'] };
    const shape = { one: Id, many: optional(list(Id, 30)), kind: optional(z.enum(['map', 'text'])) };
    expect(jsonSchemaOf(z.object(shape))).toEqual({
      type: 'object',
      properties: {
        one: id,
        many: { type: ['array', 'null'], minItems: 1, maxItems: 30, items: id },
        kind: { anyOf: [kind, { type: 'null' }] },
      },
      required: ['one'],
    });
  });

  test('refers to a named schema, which is a component once', () => {
    const Thing = defineNamedSchema('Thing', () => z.object({ id: Id }));
    const input = z.object({ one: Thing, many: optional(list(Thing, 30)) });
    const components = new ComponentSchemas();
    const reference = { $ref: '#/components/schemas/Thing' };
    expect(jsonSchemaOf(input, components).properties).toEqual({
      one: reference,
      many: { type: ['array', 'null'], minItems: 1, maxItems: 30, items: reference },
    });
    expect(components.toJson()).toEqual({ Thing: { type: 'object', properties: { id }, required: ['id'] } });
  });

  test('has the text of a field before the limit of its schema, and beside the reference to a component', () => {
    const Person = defineNamedSchema('Person', () => z.object({ id: Id }).describe('Somebody.'));
    const fields = {
      author: Person.describe('Who wrote.'),
      reader: Person,
      ids: list(Id, 1).describe('Who read.'),
      text: optional(Text).describe('What it says.'),
      data: optional(OpenObject).describe('What was read.'),
      value: optional(JsonValue).describe('What it holds.'),
      open: optional(withOpenKeys({ id: Id })).describe('What it is.'),
      any: z.unknown(),
    };
    expect(jsonSchemaOf(z.object(fields), new ComponentSchemas()).properties).toEqual({
      author: { description: 'Who wrote.', $ref: '#/components/schemas/Person' },
      reader: { $ref: '#/components/schemas/Person' },
      ids: { description: 'Who read.', type: 'array', minItems: 1, maxItems: 1, items: id },
      text: { type: ['string', 'null'], description: 'What it says. At most 32768 bytes of UTF-8.' },
      data: { description: 'What was read. At most 65536 bytes as JSON.', type: ['object', 'null'] },
      value: { description: 'What it holds.' },
      open: expect.objectContaining({
        type: ['object', 'null'],
        description: 'What it is.',
        additionalProperties: true,
      }),
      any: { description: 'Any JSON value' },
    });
  });

  test('refuses two schemas of the same name', () => {
    const one = defineNamedSchema('Thing', () => z.object({ id: Id }));
    const other = defineNamedSchema('Thing', () => z.object({ id: z.number() }));
    expect(() => jsonSchemaOf(z.object({ one, other }), new ComponentSchemas())).toThrow(
      'Two different schemas have the name Thing',
    );
  });

  test('describes the declared fields of an object that accepts other keys', () => {
    expect(jsonSchemaOf(list(withOpenKeys({ id: Id }), 1))).toMatchObject({
      items: { type: 'object', properties: { id }, required: ['id'], additionalProperties: true },
    });
    expect(jsonSchemaOf(OpenObject)).toEqual({ type: 'object', description: 'At most 65536 bytes as JSON.' });
  });
});

describe('the OpenAPI document, for client generators,', () => {
  const property = (path: string, name: string) => dataSchema(path).properties![name] as JsonSchema;

  test('allows null by the type, not by an anyOf, unless the other choice is a constant, an enum or has no type', () => {
    const nullable = [...nodes(openApi)].filter(([, { anyOf }]) =>
      (anyOf as JsonSchema[] | undefined)?.some(({ type }) => type === 'null'),
    );
    const typed = nullable.filter(([, { anyOf }]) =>
      (anyOf as JsonSchema[]).every((part) => (part.type ?? part.not) && !('const' in part) && !('enum' in part)),
    );
    expect(typed.map(([path]) => path)).toEqual([]);
  });

  test('has an allOf only in rules about required fields', () => {
    const paths = [...nodes(openApi)].filter(([, node]) => 'allOf' in node).map(([path]) => path);
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !path.endsWith('/then'))).toEqual([]);
  });

  test('has no component whose name Go uses for the constructor of another one', () => {
    const names = Object.keys(openApi.components.schemas);
    expect(names.filter((name) => names.includes(`New${name}`))).toEqual([]);
  });

  test('leaves out a field that the service refuses, and names it in the description of its object', () => {
    const refused = { '/v2/users/add': 'context', '/v2/workspace/advancedwebhook/endpoints/update': 'uid' };
    for (const [path, name] of Object.entries(refused)) {
      expect(dataSchema(path).properties).not.toHaveProperty(name);
      expect(dataSchema(path).additionalProperties).toBe(false);
      expect(dataSchema(path).description).toContain(`\`${name}\` must be left out`);
    }
  });

  test('has no property that can only be null, and no null in an enum or in the items of a list', () => {
    const isNull = (schema: unknown) => (schema as JsonSchema | undefined)?.type === 'null';
    const broken = [...nodes(openApi)].filter(
      ([path, { properties, items, enum: values }]) =>
        !/\/(then|examples?)(\/|$)/u.test(path) &&
        (Object.values(properties ?? {}).some(isNull) ||
          (items as JsonSchema | undefined)?.anyOf?.some(isNull) ||
          (Array.isArray(values) && values.includes(null))),
    );
    expect(broken.map(([path]) => path)).toEqual([]);
  });

  test('describes data that is always null as an object or null', () => {
    const { schema } = documentedResponse('/v2/organizations/folders/delete', 200)!.content['application/json'];
    const { properties, required } = schema.properties!.result as JsonSchema;
    expect(properties!.data).toEqual({ type: ['object', 'null'], description: 'Always null.' });
    expect(required).toContain('data');
  });

  test('describes the items of every array', () => {
    const without = [...nodes(openApi)].filter(
      ([, node]) =>
        [node.type].flat().includes('array') && node.items === undefined && !Array.isArray(node.prefixItems),
    );
    expect(without.map(([path]) => path)).toEqual([]);
  });

  test('describes the data of an editor as text, an object or a list', () => {
    for (const path of ['/v2/crdt/add', '/v2/crdt/update'])
      expect(property(path, 'data')).toMatchObject({
        anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'array', items: { description: 'Any JSON value' } }],
      });
  });

  test('describes each of two fields that share a schema', () => {
    expect(property('/v2/workspace/create', 'workspaceName')).toEqual({
      description: expect.any(String),
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 200,
    });
    expect(property('/v2/commentannotations/comments/add', 'comments')).toEqual({
      ...property('/v2/commentannotations/comments/add', 'commentData'),
      description: expect.any(String),
    });
  });

  test('describes "at least one of these fields" as anyOf, and "exactly one" as oneOf, with null as a missing field', () => {
    const required = (...names: string[]) =>
      names.map((name) => ({ properties: { [name]: { not: { type: 'null' } } }, required: [name] }));
    const ruleOf = (path: string) => dataSchema(path).then;
    expect(ruleOf('/v2/commentannotations/comments/add')).toEqual({ oneOf: required('commentData', 'comments') });
    expect(ruleOf('/v2/commentannotations/update')).toEqual({
      allOf: [
        { anyOf: required('annotationIds', 'locationIds', 'userIds') },
        { anyOf: required('updatedData', 'updateUsers') },
      ],
    });
  });

  test('describes the rules between fields with the messages of their errors', () => {
    const least = 'Must have at least one of';
    for (const [schema, text] of [
      [dataSchema('/v2/workspace/webhookconfig/update'), `${least} useWebhookService, webhookServiceConfig.`],
      [property('/v2/notifications/config/set', 'config'), expect.stringContaining(`${least} inbox, email, slack.`)],
      // The schemas of these endpoints accept any other field.
      [dataSchema('/v2/agents/update'), `${least} name, description, enabled.`],
      [dataSchema('/v2/agents/version/update'), expect.stringMatching(/^Must have at least one of metadata, /)],
      [
        dataSchema('/v2/activities/delete'),
        '`pageToken` must not be given together with activityIds. Must have at least one of documentId, targetEntityId and activityIds.',
      ],
      [property('/v2/organizations/folders/update', 'folders'), 'Must have at most 30 items with a parentFolderId.'],
    ] as const)
      expect(schema.description).toEqual(text);
  });

  test('leaves out the rules about fields that only the other version of an endpoint reads', () => {
    const rule = 'must not be given together with annotationIds';
    expect(dataSchema('/v2/commentannotations/get').description).toContain(`\`order\` ${rule}`);
    expect(dataSchema('/v1/commentannotations/get').description).not.toContain(`\`order\` ${rule}`);
    expect(dataSchema('/v1/commentannotations/get').description).toContain('`agentId` must not be given');
  });

  test('says when users/data/get needs the organization', () => {
    for (const path of ['/v2/users/data/get', '/v1/users/data/get'])
      expect(property(path, 'organizationId').description).toMatch(/^Required, unless/);
  });

  test('names the unit of each expiresAt, because only those of grants and permissions are in seconds', () => {
    const units = [...nodes(openApi)].flatMap(([path, { properties }]) => {
      const { expiresAt } = (properties ?? {}) as Record<string, JsonSchema>;
      const unit = expiresAt?.description?.match(/Unix seconds|epoch milliseconds|ISO 8601/)?.[0];
      return expiresAt ? [[path.match(/auth.\w+.\w+|live.\w+|versions.\w+|Invitation|TokenGrant/)?.[0], unit]] : [];
    });
    const seconds = 'Unix seconds';
    expect(units).toEqual([
      ['auth/generate_signature/post', 'epoch milliseconds'],
      ['auth/permissions/add', seconds],
      ...['folders', 'documents', 'organization'].map(() => ['auth/permissions/get', seconds]),
      ...['versions', 'version'].map(() => ['versions/get', 'ISO 8601']),
      ['live/connect', 'epoch milliseconds'],
      ['Invitation', 'epoch milliseconds'],
      ['TokenGrant', seconds],
    ]);
    expect(openApi.info.description).toContain('A time that is a number is in epoch milliseconds');
  });

  test('has a pattern that accepts only valid times', () => {
    const [, text] = (property('/v2/commentannotations/get', 'createdAfter').anyOf![0] as JsonSchema)
      .anyOf as JsonSchema[];
    const isTime = (time: string) => new RegExp(text!.pattern!, 'u').test(time);
    expect(['2026-11-22', '2026-11-22T10:00Z', '2026-11-22T10:00:00.5+02:00'].filter(isTime)).toHaveLength(3);
    expect(['now', '2026-11-22T10:00', '22.11.2026'].filter(isTime)).toEqual([]);
  });
});

const rulesOff = {
  // The project has no licence (package.json: UNLICENSED).
  'info-license': 'off',
} as const;

/**
 * The part of the linter that this test uses. The linter's own types are not installed before the test runs.
 */
interface Linter {
  createConfig(settings: string): Promise<unknown>;
  lintFromString(options: { source: string; absoluteRef: string; config: unknown }): Promise<
    readonly {
      readonly severity: string;
      readonly ruleId: string;
      readonly message: string;
      readonly location: readonly { readonly pointer?: string }[];
    }[]
  >;
}

/** Returns what the linter reports about a document. */
async function lintFindings(document: object): Promise<string[]> {
  const linter = join(await installTool('openapiLinter'), '@redocly/openapi-core/lib/index.js');
  const { createConfig, lintFromString } = (await import(linter)) as Linter;
  const config = await createConfig(JSON.stringify({ extends: ['recommended'], rules: rulesOff }));
  const findings = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
  return findings.map(
    ({ severity, ruleId, message, location: [location] }) => `${severity} ${ruleId} ${location?.pointer}: ${message}`,
  );
}

describe("the OpenAPI document, linted by Redocly's recommended rules,", () => {
  test('has no findings', async () => {
    expect(await lintFindings(openApi)).toEqual([]);
  });

  test('has findings if it is broken', async () => {
    const [path = ''] = Object.keys(openApi.paths);
    const { operationId: _, ...post } = openApi.paths[path]!.post;
    expect(
      (await lintFindings({ ...openApi, webhooks: {}, servers: [], paths: { [path]: { post } } })).map(
        (finding) => finding.split(' ')[1],
      ),
    ).toEqual(expect.arrayContaining(['operation-operationId', 'no-empty-servers']));
  });
});
