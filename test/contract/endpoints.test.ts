import { describe, expect, test } from '@jest/globals';
import { type AuthLevel, commonErrors, type Endpoint, sourceFile } from '../../lib/app/endpoint.ts';
import { takesIdempotencyKey } from '../../lib/http/capabilities.ts';
import { errorCatalogue } from '../../lib/shared/errors.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { startEngine } from '../support/engine.ts';
import { handlerOf } from '../support/functionHandlers.ts';
import { eventOf, post, type Response, send } from '../support/requests.ts';
import { allHeadersOf } from '../support/userCaller.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { cases } from './cases.ts';
import { dataSchema, expectDocumented, problems } from './contract.ts';
import { fieldsOf } from './fields.ts';

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
  test.each(cases)(
    '%s answers INVALID_ARGUMENT if the body is not JSON, or its data no object',
    async (_path, endpoint) => {
      for (const body of ['not JSON', '[]', '{"data":null}', '{"data":[]}'])
        expect(issuesOf(endpoint, await callWithBody(endpoint, body))).toHaveLength(1);
    },
  );

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

/** The endpoints that keep further fields of `data`. */
const takesOwnFields = ['/v2/agents/create', '/v2/agents/version/update'];

describe('a field of the request data', () => {
  test.each(cases)('%s answers INVALID_ARGUMENT if it is unknown or has a wrong type', async (path, endpoint) => {
    const first = fieldsOf(endpoint).find(({ types }) => types !== undefined);
    const unknown = takesOwnFields.includes(path) ? [] : ['unexpectedThing'];
    const wrong = first && { [first.at[0]!]: first.types!.has('boolean') ? [] : true };
    const data = { ...(endpoint.example.data as object), unexpectedThing: null, ...wrong };
    const issues = issuesOf(endpoint, await call(endpoint, data));
    const { type } = endpoint.fixedMessages ?? {};
    expect(issues.map((issue) => issue.path)).toEqual([
      ...unknown.map((name) => [name]),
      ...(type === undefined ? [] : [[]]),
      ...Object.keys(wrong ?? {}).map((name) => [name]),
    ]);
    expect(issues.find((issue) => issue.path.length === 0)?.message).toBe(type);
  });

  const fixed = cases.flatMap(([path, endpoint]) =>
    Object.entries(endpoint.fixedMessages?.required ?? {}).map(
      ([field, message]) => [path, field, message, endpoint] as const,
    ),
  );
  test.each(fixed)('%s has its own message for a missing %s', async (_path, field, message, endpoint) => {
    const { [field]: _removed, ...data } = endpoint.example.data as Record<string, unknown>;
    const [issue] = issuesOf(endpoint, await call(endpoint, data));
    expect(issue).toEqual({ path: [field], code: expect.any(String), message });
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
