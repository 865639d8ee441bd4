import { describe, expect, test } from '@jest/globals';
import { type AuthLevel, commonErrors, type Endpoint, sourceFile } from '../../lib/app/endpoint.ts';
import { takesIdempotencyKey } from '../../lib/http/capabilities.ts';
import type { JsonSchema } from '../../lib/openapi/document.ts';
import { errorCatalogue } from '../../lib/shared/errors.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { startEngine } from '../support/engine.ts';
import { handlerOf } from '../support/functionHandlers.ts';
import { eventOf, post, type Response, send } from '../support/requests.ts';
import { allHeadersOf } from '../support/userCaller.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { cases } from './cases.ts';
import { dataSchema, expectDocumented, problems } from './contract.ts';

forAllTests(() => startEngine({ sdk: true }));
const headers = forAllTests(async () => allHeadersOf(await newWorkspace()));

async function call(endpoint: Endpoint, data: unknown): Promise<Response> {
  return post(handlerOf(endpoint.path), headers[endpoint.auth], data);
}

async function callWithBody(endpoint: Endpoint, body: string | undefined): Promise<Response> {
  return send(handlerOf(endpoint.path), eventOf(body, headers[endpoint.auth]));
}

/** Expects INVALID_ARGUMENT and returns its issues. */
function issuesOf(
  endpoint: Endpoint,
  response: Response,
): { path: (string | number)[]; code: string; message: string }[] {
  expectDocumented(endpoint, response);
  const { status, message, details } = response.body.error;
  expect({ http: response.status, status }).toEqual({ http: 400, status: 'INVALID_ARGUMENT' });
  expect(details.issues[0].message).toBe(message);
  return details.issues;
}

describe('the declaration of an endpoint', () => {
  test.each(cases)('%s is in the file named after its path, or after the path of its twin', async (path, endpoint) => {
    const module = (await import(`../../${sourceFile(endpoint.twinOf ?? path)}`)) as {
      endpoint: Endpoint;
      twin?: Endpoint;
    };
    expect(endpoint.twinOf === undefined ? module.endpoint : module.twin).toBe(endpoint);
  });

  test.each(cases)('%s has a summary and an impact text without a full stop', (_path, { summary, impact }) => {
    expect(summary).toMatch(/^[A-Z].{5,}[^.]$/);
    // Alarm texts put the impact after a dash, so it begins in lower case or with an abbreviation.
    expect(impact).toMatch(/^([a-z]|[A-Z]{2}).{10,}[^.]$/);
  });

  test.each(cases)('%s lists each error status once, and none that all endpoints share', (_path, { errors }) => {
    expect(Object.keys(errorCatalogue)).toEqual(expect.arrayContaining([...errors]));
    expect(new Set(errors).size).toBe(errors.length);
    expect(errors.filter((status) => (commonErrors as readonly string[]).includes(status))).toEqual([]);
  });

  test.each(cases)('%s has example data that its schema accepts and documents', (path, { input, example }) => {
    expect(input.safeParse(example.data).error).toBeUndefined();
    expect(problems(dataSchema(path), example.data, 'closed')).toEqual([]);
  });

  test.each(cases)('%s has an example result with declared fields only', (_path, { output, example }) => {
    // The parsed result lacks undeclared keys, so it differs from the example if the example has any.
    expect(output.parse(example.result)).toEqual(example.result);
  });
});

describe('a call with wrong credentials', () => {
  const guarded = cases.filter(([, { auth }]) => auth !== 'none');
  const firstHeader = (level: AuthLevel) => Object.entries(headers[level])[0]!;

  test.each(guarded)('%s answers PERMISSION_DENIED with one message for all causes', async (path, endpoint) => {
    const handler = handlerOf(path);
    const [[idHeader, id], other] = [
      firstHeader(endpoint.auth),
      endpoint.auth === 'apiKey' ? headers.workspace : headers.apiKey,
    ];
    // An API key and a workspace need two headers, so the first header alone is refused. A user token is one header.
    const halves = endpoint.auth === 'user' ? [] : [{ [idHeader]: id }];
    const attempts = [{}, ...halves, { ...headers[endpoint.auth], [idHeader]: 'unknown' }, other];
    const answers = await Promise.all(attempts.map((attempt) => post(handler, attempt, endpoint.example.data)));
    for (const answer of answers) {
      expectDocumented(endpoint, answer);
      expect(answer.status).toBe(403);
      expect(answer.body).toEqual({
        error: { status: 'PERMISSION_DENIED', message: answers[0]!.body.error.message },
      });
    }
  });

  test.each(guarded)('%s refuses wrong credentials before it reads the body', async (path) => {
    const { status } = await send(handlerOf(path), eventOf('not JSON'));
    expect(status).toBe(403);
  });
});

describe('the request body', () => {
  const bodies = [
    ['not JSON', 'not JSON'],
    ['an array', '[]'],
    ['a string', '"data"'],
    ['an object with null as data', '{"data":null}'],
    ['an object with a list as data', '{"data":[]}'],
    ['an object with a string as data', '{"data":"data"}'],
  ];
  test.each(
    cases.flatMap(([path, endpoint]) => bodies.map(([label, body]) => [path, label!, body!, endpoint] as const)),
  )('%s answers INVALID_ARGUMENT if the body is %s', async (_path, _what, body, endpoint) => {
    expect(issuesOf(endpoint, await callWithBody(endpoint, body))).toHaveLength(1);
  });

  test.each(cases)(
    '%s answers INVALID_ARGUMENT if the body or its data is missing, unless the body is optional',
    async (_path, endpoint) => {
      for (const body of [undefined, '', '{}']) {
        const answer = await callWithBody(endpoint, body);
        expectDocumented(endpoint, answer);
        if (endpoint.body === 'optional') expect(answer.body.error?.status).not.toBe('INVALID_ARGUMENT');
        else expect(issuesOf(endpoint, answer)).toHaveLength(1);
      }
    },
  );
});

describe('a field of the request data', () => {
  const fields = cases.flatMap(([path, endpoint]) =>
    Object.entries(dataSchema(path).properties ?? {}).map(
      ([field, schema]) => [path, field, schema as JsonSchema, endpoint] as const,
    ),
  );
  const typed = fields.filter(([, , schema]) => ofAnotherType(schema) !== undefined);
  const optionals = fields.filter(([path, field]) => !dataSchema(path).required?.includes(field));
  const required = cases.flatMap(([path, endpoint]) =>
    requiredFields(dataSchema(path), endpoint.example.data).map(
      (field) => [path, field.join('.'), field, endpoint] as const,
    ),
  );

  test.each(typed)('%s answers INVALID_ARGUMENT if %s has the wrong type', async (_path, field, schema, endpoint) => {
    const issues = issuesOf(
      endpoint,
      await call(endpoint, { ...(endpoint.example.data as object), [field]: ofAnotherType(schema) }),
    );
    expect(issues.map(({ path }) => path)).toContainEqual([field]);
    expect(issues.find(({ path }) => path.length === 1 && path[0] === field)!.message).toContain(field);
    expect(issues[0]!.message).toContain(endpoint.fixedMessages?.type ?? field);
  });

  test.each(required)('%s answers INVALID_ARGUMENT if %s is missing', async (_path, _name, field, endpoint) => {
    const issues = issuesOf(endpoint, await call(endpoint, without(endpoint.example.data, field)));
    expect(issues.map(({ path }) => path)).toContainEqual(field);
    const fixedMessage = field.length === 1 ? endpoint.fixedMessages?.required?.[String(field[0])] : undefined;
    expect(issues[0]!.message).toContain(fixedMessage ?? String(field.at(-1)));
  });

  test.each(optionals)('%s treats a null %s like a missing field', (_path, field, _schema, { input, example }) => {
    const parse = (data: object) => input.safeParse(data).error?.issues.map(({ path, code }) => ({ path, code }));
    expect(parse({ ...(example.data as object), [field]: null })).toEqual(
      parse(without(example.data, [field]) as object),
    );
  });
});

describe('an unknown field', () => {
  /**
   * Returns whether optional fields of an update select what it changes: a list of ids, or a document, folder or
   * location.
   */
  const selects = (path: string) => {
    const { properties = {}, required = [] } = dataSchema(path);
    const selectors = Object.entries(properties).filter(
      ([field, schema]) =>
        /^(document|folder|location)Id$/.test(field) ||
        (field.endsWith('Ids') && typesOf(schema as JsonSchema)?.has('array')),
    );
    return (
      path.endsWith('/delete') || (path.endsWith('/update') && selectors.some(([field]) => !required.includes(field)))
    );
  };
  const isClosed = (path: string) => dataSchema(path).additionalProperties === false;
  const selecting = cases.filter(([path]) => selects(path));
  /** Endpoints that refuse unknown fields although none of their fields selects records. */
  const alsoClosed = [
    '/v1/organizations/documents/locations/update',
    '/v2/agents/groups/add-agents',
    '/v2/agents/groups/create',
    '/v2/agents/groups/remove-agents',
    '/v2/agents/groups/update',
    '/v2/workspace/apikeyconfig/update',
  ];

  test.each(selecting)(
    '%s answers INVALID_ARGUMENT and names the field, because it may be a misspelt selector',
    async (_path, endpoint) => {
      for (const value of [['x'], 'x', null]) {
        const [issue, ...others] = issuesOf(
          endpoint,
          await call(endpoint, { ...(endpoint.example.data as object), unknownSelector: value }),
        );
        expect(issue!.message).toBe('data has unknown keys: unknownSelector');
        expect(others).toEqual([]);
      }
    },
  );

  test.each(selecting)('%s excludes unknown fields in the API reference', (path) => {
    expect(dataSchema(path)).toMatchObject({ additionalProperties: false });
  });

  test('is refused by deletions, by updates that select records, and by six other endpoints', () => {
    const closed = cases.map(([path]) => path).filter(isClosed);
    expect(closed.toSorted()).toEqual([...selecting.map(([path]) => path), ...alsoClosed].toSorted());
    expect(closed).toEqual(
      expect.arrayContaining([
        '/v2/commentannotations/update',
        '/v2/commentannotations/comments/update',
        '/v2/notifications/update',
        '/v2/users/update',
      ]),
    );
  });

  test.each(cases.filter(([path]) => !isClosed(path)))('%s ignores an unknown field', (_path, { input, example }) => {
    expect(input.safeParse({ ...(example.data as object), unknownField: ['x'] }).error).toBeUndefined();
  });

  /** The fields that published clients send, for endpoints that refuse unknown fields. */
  const sentByClients: Record<string, string[]> = {
    '/v1/organizations/documents/locations/data/delete': ['apiKey', 'authToken', 'documentId', 'location'],
    '/v1/organizations/documents/locations/update': [
      'apiKey',
      'authToken',
      'documentId',
      'organizationId',
      'migrate',
      'merge',
    ],
    '/v1/organizations/usergroups/users/delete': ['organizationId', 'organizationUserGroupId', 'userIds', 'deleteAll'],
    '/v2/activities/delete': ['organizationId', 'documentId', 'targetEntityId', 'activityIds'],
    '/v2/agents/delete': ['agentId'],
    '/v2/agents/groups/delete': ['groupId'],
    '/v2/commentannotations/comments/delete': ['organizationId', 'documentId', 'annotationId', 'commentIds', 'userIds'],
    '/v2/commentannotations/comments/update': [
      'organizationId',
      'documentId',
      'annotationId',
      'commentIds',
      'userIds',
      'updatedData',
      'triggerNotification',
    ],
    '/v2/commentannotations/delete': [
      'organizationId',
      'documentId',
      'locationIds',
      'userIds',
      'annotationIds',
      'agentId',
      'agentSuggestions',
      'agentUrls',
    ],
    '/v2/commentannotations/update': [
      'organizationId',
      'documentId',
      'locationIds',
      'userIds',
      'annotationIds',
      'updatedData',
      'updateUsers',
    ],
    '/v2/crdt/delete': ['organizationId', 'documentId', 'editorIds', 'isServerIds'],
    '/v2/notifications/delete': ['organizationId', 'documentId', 'locationId', 'userId', 'notificationIds'],
    '/v2/notifications/update': [
      'organizationId',
      'documentId',
      'locationId',
      'userId',
      'verifyUserPermissions',
      'notifications',
    ],
    '/v2/organizations/delete': ['organizationIds'],
    '/v2/organizations/documents/delete': ['organizationId', 'documentIds'],
    '/v2/organizations/folders/delete': ['organizationId', 'folderId'],
    '/v2/users/data/delete': ['userIds', 'organizationIds'],
    '/v2/users/delete': ['organizationId', 'documentId', 'folderId', 'userIds', 'context'],
    '/v2/users/update': ['organizationId', 'documentId', 'folderId', 'users', 'options'],
    '/v2/workspace/advancedwebhook/endpoints/delete': ['endpointId'],
    '/v2/workspace/domains/delete': ['domains'],
  };
  test.each(Object.entries(sentByClients))('%s declares all fields that published clients send', (path, fields) => {
    expect(Object.keys(dataSchema(path).properties ?? {})).toEqual(expect.arrayContaining(fields));
  });
});

describe('the header Idempotency-Key', () => {
  const taking = cases.filter(([, endpoint]) => takesIdempotencyKey(endpoint));
  test.each(taking)('%s answers INVALID_ARGUMENT unless the key is visible ASCII', async (path, endpoint) => {
    const answer = await post(
      handlerOf(path),
      { ...headers[endpoint.auth], 'idempotency-key': 'with space' },
      endpoint.example.data,
    );
    expect(issuesOf(endpoint, answer)).toMatchObject([{ path: ['Idempotency-Key'] }]);
  });
});

/** Returns a JSON value of a type that a schema refuses. Returns undefined if the schema accepts every type. */
function ofAnotherType(schema: JsonSchema): unknown {
  const taken = typesOf(schema);
  const candidates = { object: {}, array: [], string: 'text', boolean: true, number: 1.5 };
  return Object.entries(candidates).find(([type]) => taken && !taken.has(type))?.[1];
}

/** Returns the types that a schema accepts. Returns undefined if the schema accepts all types. */
function typesOf(schema: JsonSchema): Set<string> | undefined {
  if (schema.type !== undefined)
    return new Set([schema.type].flat().map((type) => (type === 'integer' ? 'number' : type)));
  if ('const' in schema || schema.enum)
    return new Set(['const' in schema ? schema.const : schema.enum].flat().map((value) => typeof value));
  const sets = (schema.anyOf ?? schema.oneOf ?? []).map(typesOf);
  return sets.length > 0 && sets.every((set) => set !== undefined)
    ? new Set(sets.flatMap((set) => [...set]))
    : undefined;
}

type FieldPath = (string | number)[];

/** Returns the paths of the required fields in an example, at any depth. */
function requiredFields(schema: JsonSchema, example: unknown, path: FieldPath = []): FieldPath[] {
  if (Array.isArray(example))
    return example.flatMap((item, index) => requiredFields((schema.items ?? {}) as JsonSchema, item, [...path, index]));
  if (typeof example !== 'object' || example === null) return [];
  // A schema of a nullable value is an `anyOf` whose other part is null.
  const described = (schema.anyOf ?? [schema]).filter(({ properties }) => properties);
  if (described.length !== 1) return [];
  const [{ properties = {}, required = [] }] = described as [JsonSchema];
  return Object.entries(example).flatMap(([key, value]) => [
    ...(required.includes(key) ? [[...path, key]] : []),
    ...(properties[key] ? requiredFields(properties[key] as JsonSchema, value, [...path, key]) : []),
  ]);
}

/** Returns a copy of a JSON value without the field at a path. */
function without(value: unknown, path: FieldPath): unknown {
  const copy = structuredClone(value);
  const parent = path.slice(0, -1).reduce<any>((node, key) => node[key], copy);
  Reflect.deleteProperty(parent, path.at(-1)!);
  return copy;
}
