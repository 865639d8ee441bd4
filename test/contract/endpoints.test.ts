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

/** The endpoints that keep further fields of `data`. `/v2/users/data/get` takes two more, whose names begin with the service's. */
const takesOwnFields = ['/v2/agents/create', '/v2/agents/version/update'];

describe('an unknown field', () => {
  test.each(cases.filter(([path]) => !takesOwnFields.includes(path)))(
    '%s answers INVALID_ARGUMENT and names the field',
    async (path, endpoint) => {
      if (path !== '/v2/users/data/get') expect(dataSchema(path)).toMatchObject({ additionalProperties: false });
      for (const value of [['x'], 'x', null]) {
        const [issue, ...others] = issuesOf(
          endpoint,
          await call(endpoint, { ...(endpoint.example.data as object), unexpectedThing: value }),
        );
        expect(issue).toMatchObject({ path: ['unexpectedThing'], message: 'unexpectedThing: unknown field.' });
        expect(others).toEqual([]);
      }
    },
  );
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

describe('an end of access that is not in the future', () => {
  const withEnd = cases.filter(([path]) => JSON.stringify(dataSchema(path)).includes('"expiresAt"'));
  const list = (path: string) =>
    path === '/v2/auth/generate_signature' ? ['permissions'] : ['permissions', 'resources'];

  test('can be sent to these endpoints only', () => {
    expect(withEnd.map(([path]) => path).sort()).toEqual([
      '/v1/auth/token/get',
      '/v2/auth/generate_signature',
      '/v2/auth/generate_token',
      '/v2/auth/permissions/add',
      '/v2/auth/token/get',
    ]);
  });

  test.each(withEnd)('%s refuses it and names the field', async (path, endpoint) => {
    const credentials = endpoint.auth === 'none' && Object.values(headers.apiKey);
    const [apiKey, authToken] = credentials || [];
    const entries = ['acme', 'other'].map((id, index) => ({
      type: 'organization',
      ...(list(path).length === 1 ? { userId: 'ada', resourceId: id, hasAccess: true } : { id }),
      ...(index === 1 && { expiresAt: 1 }),
    }));
    const named = list(path).length === 1 ? entries : { resources: entries };
    const data = { ...(endpoint.example.data as object), permissions: named, ...(apiKey && { apiKey, authToken }) };
    const [issue] = issuesOf(endpoint, await call(endpoint, data));
    expect(issue).toEqual({
      path: [...list(path), 1, 'expiresAt'],
      code: 'too_small',
      message: `${list(path).join('.')}[1].expiresAt must be in the future`,
    });
  });
});
